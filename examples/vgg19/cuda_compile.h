/* cuda_compile.h: compiles the kernels' text for one GPU.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef VGG19_CUDA_COMPILE_H
#define VGG19_CUDA_COMPILE_H

/* All kernels as one text, embedded at build time. */
extern const char cuda_kernels_text[];

/* Compiles for compute capability `capability` (90 is 9.0) with NVRTC, or with nvcc where there
 * is no NVRTC. `folder` as for cuda_library_open. Returns 0 with the image for
 * cuModuleLoadData, which the caller frees, or -ENODEV after a message on stderr. */
int cuda_compile(const char *text, int capability, const char *folder, void **ret);

/* The two compilers. Each function returns -ENOENT, without a message, if its compiler is
 * missing. */
int cuda_compile_nvrtc(const char *text, int capability, const char *folder, void **ret);
int cuda_compile_nvcc(const char *text, int capability, void **ret);

#endif
