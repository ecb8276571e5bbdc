/* layers.h: the arithmetic of VGG-19's layers other than convolution. All work
 * on buffers the caller owns and allocate nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef VGG19_LAYERS_H
#define VGG19_LAYERS_H

#include "workers.h"

#include <stdbool.h>

/* Adds bias[channel] to each plane of `plane` values, of every image, and clips at 0, in place. */
void layer_bias_relu(struct workers *workers, float *data, const float *bias, size_t images,
                     size_t channels, size_t plane);

/* Maximum over 2x2, stride 2; `size` (even) is the side of an input plane. Both poolings count
 * the channels of all images. */
void layer_max_pool(struct workers *workers, const float *input, size_t channels, size_t size,
                    float *output);

/* Mean over windows laid out so that any input side gives `side` outputs. */
void layer_adaptive_pool(struct workers *workers, const float *input, size_t channels, size_t size,
                         size_t side, float *output);

/* A fully connected layer: output[images][out] = weight[out][in] * input[images][in] + bias[out],
 * clipped at 0 if `relu`. `in` must be a multiple of 8. */
struct linear {
    const float *weight;
    const float *bias;
    size_t in, out;
    bool relu;
};

void layer_linear(struct workers *workers, const struct linear *layer, const float *input,
                  size_t images, float *output);

#endif
