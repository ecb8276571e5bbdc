/* cuda_compile.h: the kernels' text becomes code for one GPU.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef VGG19_CUDA_COMPILE_H
#define VGG19_CUDA_COMPILE_H

/* All kernels as one text, embedded at build time. */
extern const char cuda_kernels_text[];

/* Compiles for compute capability `capability` (90 is 9.0) with NVRTC, or with
 * nvcc where there is no NVRTC. `folder` as for cuda_library_open. Returns 0
 * with what cuModuleLoadData takes, for the caller to free, or -ENODEV after
 * saying on stderr what is missing or wrong. */
int cuda_compile(const char *text, int capability, const char *folder, void **ret);

/* The two ways. Each returns -ENOENT, without a word, where its compiler is
 * not to be found. */
int cuda_compile_nvrtc(const char *text, int capability, const char *folder, void **ret);
int cuda_compile_nvcc(const char *text, int capability, void **ret);

#endif
