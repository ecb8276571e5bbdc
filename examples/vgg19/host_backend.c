/* host_backend.c: layers.h as the table of backend.h. Nothing here can fail, and activations
 * stay where they are.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "backend.h"

static int host_fill(struct engine *engine, float *to, size_t count, const struct uniform *numbers)
{
    uniform_fill(engine->workers, to, count, numbers);
    return 0;
}

static int host_bias_relu(struct engine *engine, float *data, const float *bias, size_t images,
                          size_t channels, size_t plane)
{
    layer_bias_relu(engine->workers, data, bias, images, channels, plane);
    return 0;
}

static int host_max_pool(struct engine *engine, const float *input, size_t channels, size_t size,
                         float *output)
{
    layer_max_pool(engine->workers, input, channels, size, output);
    return 0;
}

static int host_adaptive_pool(struct engine *engine, const float *input, size_t channels,
                              size_t size, size_t side, float *output)
{
    layer_adaptive_pool(engine->workers, input, channels, size, side, output);
    return 0;
}

static int host_linear(struct engine *engine, const struct linear *layer, const float *input,
                       size_t images, float *output)
{
    layer_linear(engine->workers, layer, input, images, output);
    return 0;
}

static int stay(struct engine *engine, struct buffer *data)
{
    (void)engine;
    (void)data;
    return 0;
}

const struct backend host_backend = {
    .fill = host_fill,
    .bias_relu = host_bias_relu,
    .max_pool = host_max_pool,
    .adaptive_pool = host_adaptive_pool,
    .linear = host_linear,
    .fetch = stay,
    .park = stay,
};
