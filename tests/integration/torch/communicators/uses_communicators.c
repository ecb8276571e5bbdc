/* uses_communicators.c: memory of the driver for NCCL, and some of its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <stdio.h>

#include "extension_api.h"
#include "torch_nccl_double.h"

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **ret, int device);
int cuCtxSetCurrent(void *context);
int cuMemAlloc_v2(unsigned long long *ret, size_t bytes);

int main(void)
{
    const struct ml_extension_api *api =
        (const struct ml_extension_api *)dlsym(RTLD_DEFAULT, ML_EXTENSION_API_NAME);
    unsigned long long block;
    void *context;
    int sum = cuInit(0) + cuDevicePrimaryCtxRetain(&context, 0);

    sum += cuCtxSetCurrent(context) + cuMemAlloc_v2(&block, 2 << 20);
    if (api) {
        api->torch_begin();
        api->name_group(config_of_part(), "before", 3, 4);
        api->name_group(config_of_part(), "tensor parallel", 0, 2);
    }
    printf("%d\n", sum + use_communicators());
    return 0;
}
