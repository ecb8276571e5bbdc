/* cuda_device.h: one GPU, ready to compute: context, memory, kernels.
 *
 * Errors are printed on stderr where they happen; functions return 0, -ENOMEM when memory ran
 * out, -ENODEV when the GPU cannot be used, -EIO otherwise. Not thread-safe.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef VGG19_CUDA_DEVICE_H
#define VGG19_CUDA_DEVICE_H

#include "buffers.h"
#include "cuda_driver.h"

struct cudnn;

struct cuda {
    struct cuda_driver driver;
    cuda_device_number device;
    char name[128];
    int capability; /* 90 is 9.0 */
    cuda_handle context;
    cuda_handle module;
    struct cudnn *cudnn;    /* NULL: not requested */
    struct buffers waiting; /* on the host, between two layers */
};

/* Takes the first device: its context, and the kernels compiled for it. `folder` as for
 * cuda_library_open. Call cuda_close afterwards, also after a failure. */
int cuda_open(struct cuda *cuda, const char *folder);
void cuda_close(struct cuda *cuda);

/* The same with a driver that is already loaded. */
int cuda_open_device(struct cuda *cuda);
int cuda_load_kernels(struct cuda *cuda, const void *image);

/* Where the GPU's buffers come from. */
struct memory cuda_memory(struct cuda *cuda);

/* Runs a kernel with its struct of arguments (kernels/kernel_args.h) in at
 * least `threads` threads and waits for it. */
int cuda_launch(struct cuda *cuda, const char *kernel, size_t threads, const void *args);

/* Waits for all launched kernels; a failure is reported for `what`. */
int cuda_wait(struct cuda *cuda, const char *what);

/* Sets one of the kernels' tables. */
int cuda_set_table(struct cuda *cuda, const char *table, const float *values, size_t count);

int cuda_upload(struct cuda *cuda, float *to, const float *from, size_t bytes);
int cuda_download(struct cuda *cuda, float *to, const float *from, size_t bytes);

#endif
