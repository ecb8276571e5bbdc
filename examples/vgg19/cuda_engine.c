/* cuda_engine.c: the table of backend.h on a GPU. As in the program it is modelled on, nothing
 * stays on the GPU between two layers: the activation is copied to the host and back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "backend.h"
#include "cuda_cudnn.h"
#include "cuda_device.h"
#include "kernels/kernel_args.h"

static int device_fill(struct engine *engine, float *to, size_t count,
                       const struct uniform *numbers)
{
    struct kernel_fill_args args = {
        .count = (count + 1) / 2,
        .to = to,
        .numbers = count,
        .key = uniform_key(numbers),
        .scale = uniform_scale(numbers),
    };

    return cuda_launch(engine->cuda, "kernel_fill", args.count, &args);
}

/* cuDNN adds its bias itself; the kernel then only clips. */
static int device_bias_relu(struct engine *engine, float *data, const float *bias, size_t images,
                            size_t channels, size_t plane)
{
    struct kernel_bias_relu_args args = {
        .count = images * channels * plane,
        .data = data,
        .bias = bias,
        .channels = (unsigned)channels,
        .plane = (unsigned)plane,
    };

    if (engine->cuda->cudnn) {
        int rc = cudnn_add_bias(engine->cuda, data, bias, images, channels, plane);

        if (rc)
            return rc;
        args.bias = NULL;
    }
    return cuda_launch(engine->cuda, "kernel_bias_relu", args.count, &args);
}

static int pool(struct engine *engine, const char *kernel, size_t channels,
                struct kernel_pool_args *args)
{
    args->count = channels * args->side * args->side;
    return cuda_launch(engine->cuda, kernel, args->count, args);
}

static int device_max_pool(struct engine *engine, const float *input, size_t channels, size_t size,
                           float *output)
{
    struct kernel_pool_args args = {
        .from = input,
        .to = output,
        .size = (unsigned)size,
        .side = (unsigned)size / 2,
    };

    return pool(engine, "kernel_max_pool", channels, &args);
}

static int device_adaptive_pool(struct engine *engine, const float *input, size_t channels,
                                size_t size, size_t side, float *output)
{
    struct kernel_pool_args args = {
        .from = input,
        .to = output,
        .size = (unsigned)size,
        .side = (unsigned)side,
    };

    return pool(engine, "kernel_adaptive_pool", channels, &args);
}

static int device_linear(struct engine *engine, const struct linear *layer, const float *input,
                         size_t images, float *output)
{
    struct kernel_linear_args args = {
        .count = images * layer->out,
        .from = input,
        .weight = layer->weight,
        .bias = layer->bias,
        .to = output,
        .in = (unsigned)layer->in,
        .out = (unsigned)layer->out,
        .relu = layer->relu,
    };

    return cuda_launch(engine->cuda, "kernel_linear", args.count, &args);
}

typedef int copy(struct cuda *cuda, float *to, const float *from, size_t bytes);

/* Replaces a buffer by a copy in other buffers. On failure both are freed. */
static int move(struct engine *engine, struct buffers *from, struct buffers *to,
                const char *purpose, copy *how, struct buffer *data)
{
    struct buffer copied = {0};
    int rc = buffer_new(to, purpose, MEMLEDGER_ACTIVATION, data->bytes / sizeof(float), &copied);

    if (!rc) {
        rc = how(engine->cuda, copied.data, data->data, data->bytes);
        if (rc)
            buffer_release(to, &copied);
    }
    buffer_release(from, data);
    *data = copied;
    return rc;
}

static int device_fetch(struct engine *engine, struct buffer *data)
{
    return move(engine, engine->waiting, &engine->buffers, "input", cuda_upload, data);
}

static int device_park(struct engine *engine, struct buffer *data)
{
    /* The copy has the layer's name, like the original. */
    engine->waiting->layer = engine->buffers.layer;
    return move(engine, &engine->buffers, engine->waiting,
                engine->buffers.layer ? "output" : "input", cuda_download, data);
}

const struct backend cuda_backend = {
    .fill = device_fill,
    .bias_relu = device_bias_relu,
    .max_pool = device_max_pool,
    .adaptive_pool = device_adaptive_pool,
    .linear = device_linear,
    .fetch = device_fetch,
    .park = device_park,
};
