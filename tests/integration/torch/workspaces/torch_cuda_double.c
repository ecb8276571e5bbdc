/* torch_cuda_double.c: takes blocks and gives some of them to libraries as workspaces, as PyTorch's
 * CUDA library does. The recorder finds it by its name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "torch_cuda_double.h"

#include <stdint.h>

#include "c10_double.h"
#include "nvidia_double.h"

#define CUDA_0 1 /* device type CUDA, index 0 */
#define WORKSPACE_OF_PACK 1003
#define TENSOR_OF_PACK 1001

static void *take(uintptr_t number, int64_t bytes)
{
    void *block = (void *)(number << 20);

    report(block, bytes, 0, 0, CUDA_0);
    return block;
}

static int multiply(const void *workspace)
{
    return cublasLtMatmul(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, workspace, 14, 15);
}

int use_workspaces(void)
{
    void *kept = take(1, 1000);
    void *tensor, *scratch;
    int sum = cublasSetWorkspace_v2(1, kept, 2);

    tensor = take(2, 200);
    sum += cublasSetWorkspace_v2(3, kept, 4) + multiply(take(3, 30)) + multiply(0);
    sum += cudnnBackendSetAttribute(1, TENSOR_OF_PACK, 6, 1, &tensor);
    sum += cudnnSetDropoutDescriptor(1, 2, 0.25f, take(5, 50), 6, 7);
    scratch = take(4, 4);
    sum += cudnnBackendSetAttribute(1, WORKSPACE_OF_PACK, 6, 1, &scratch);
    report(scratch, -4, 0, 0, CUDA_0);
    return sum;
}
