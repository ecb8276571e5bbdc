/* cuda_compile.c: NVRTC first, then nvcc.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda_compile.h"

#include "cuda_library.h"

#include <errno.h>
#include <stdio.h>

int cuda_compile(const char *text, int capability, const char *folder, void **ret)
{
    int rc = cuda_compile_nvrtc(text, capability, folder, ret);

    if (rc == -ENOENT)
        rc = cuda_compile_nvcc(text, capability, ret);
    if (rc != -ENOENT)
        return rc;
    fputs("vgg19: nothing to compile the kernels with: neither NVRTC (libnvrtc.so.13, .12 or "
          ".11.2; looked in " CUDA_LIBRARY_PLACES ") nor nvcc on PATH\n"
          "vgg19: pip install nvidia-cuda-nvrtc, or name its folder with --cuda-libs\n",
          stderr);
    return -ENODEV;
}
