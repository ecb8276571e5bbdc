/* backend.h: the arithmetic of the network except convolutions, as a table: one for the host,
 * one for a GPU. All functions work on buffers of the engine that the caller owns. layers.h
 * describes each function.
 *
 * Each returns 0, or a negative errno after a message on stderr.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef VGG19_BACKEND_H
#define VGG19_BACKEND_H

#include "engine.h"
#include "layers.h"
#include "uniform.h"

struct backend {
    int (*fill)(struct engine *engine, float *to, size_t count, const struct uniform *numbers);
    int (*bias_relu)(struct engine *engine, float *data, const float *bias, size_t images,
                     size_t channels, size_t plane);
    int (*max_pool)(struct engine *engine, const float *input, size_t channels, size_t size,
                    float *output);
    int (*adaptive_pool)(struct engine *engine, const float *input, size_t channels, size_t size,
                         size_t side, float *output);
    int (*linear)(struct engine *engine, const struct linear *layer, const float *input,
                  size_t images, float *output);

    /* Moves an activation out of engine->waiting before a layer, and into it
     * after the layer. On failure it is released. */
    int (*fetch)(struct engine *engine, struct buffer *data);
    int (*park)(struct engine *engine, struct buffer *data);
};

extern const struct backend host_backend;
extern const struct backend cuda_backend;

#endif
