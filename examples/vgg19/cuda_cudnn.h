/* cuda_cudnn.h: NVIDIA's own convolution, found at run time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef VGG19_CUDA_CUDNN_H
#define VGG19_CUDA_CUDNN_H

#include "cuda_device.h"

/* Opens libcudnn.so.9 or .8 for the device; cuda->cudnn is then set and cudnn_close ends it.
 * `folder` as for cuda_library_open. Returns 0, or -ENODEV after a message on stderr. */
int cudnn_open(struct cuda *cuda, const char *folder);
void cudnn_close(struct cuda *cuda);

/* Adds bias[channel] to each plane of `plane` values, of every image, in place. */
int cudnn_add_bias(struct cuda *cuda, float *data, const float *bias, size_t images,
                   size_t channels, size_t plane);

#endif
