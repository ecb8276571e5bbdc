/* network.c: the layers of VGG-19 and the order in which they run. A layer's weights exist only
 * while it runs: otherwise the 548 MiB of parameters would hide the memory of the convolutions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "network.h"

#include "backend.h"

#include <math.h>
#include <stdbool.h>

enum { IMAGE_CHANNELS = 3, FEATURE_SIDE = 7, BIAS_STREAM = 1 << 16, INPUT_STREAM = 1 << 17 };

/* Evenly spread over [-sqrt(3), sqrt(3)]: variance 1, as a normalised image. */
#define UNIT_BOUND 1.7320508f

/* Small compared with activations of about 1, but large enough to change results if omitted. */
#define BIAS_BOUND 0.1f

enum layer_kind { CONV, MAX_POOL, ADAPTIVE_POOL, LINEAR_RELU, LINEAR };

struct layer {
    const char *name;
    enum layer_kind kind;
    int in, out; /* channels, or values for the linear ones */
};

static const struct layer layers[] = {
    {"conv1_1", CONV, IMAGE_CHANNELS, 64},
    {"conv1_2", CONV, 64, 64},
    {"pool1", MAX_POOL, 64, 64},
    {"conv2_1", CONV, 64, 128},
    {"conv2_2", CONV, 128, 128},
    {"pool2", MAX_POOL, 128, 128},
    {"conv3_1", CONV, 128, 256},
    {"conv3_2", CONV, 256, 256},
    {"conv3_3", CONV, 256, 256},
    {"conv3_4", CONV, 256, 256},
    {"pool3", MAX_POOL, 256, 256},
    {"conv4_1", CONV, 256, 512},
    {"conv4_2", CONV, 512, 512},
    {"conv4_3", CONV, 512, 512},
    {"conv4_4", CONV, 512, 512},
    {"pool4", MAX_POOL, 512, 512},
    {"conv5_1", CONV, 512, 512},
    {"conv5_2", CONV, 512, 512},
    {"conv5_3", CONV, 512, 512},
    {"conv5_4", CONV, 512, 512},
    {"pool5", MAX_POOL, 512, 512},
    {"avgpool", ADAPTIVE_POOL, 512, 512},
    {"fc1", LINEAR_RELU, 512 * FEATURE_SIDE *FEATURE_SIDE, 4096},
    {"fc2", LINEAR_RELU, 4096, 4096},
    {"fc3", LINEAR, 4096, NETWORK_CLASSES},
};

enum { LAYER_COUNT = sizeof(layers) / sizeof(layers[0]) };

/* The state of a forward pass between two layers. */
struct pass {
    struct engine *engine;
    const struct conv_algorithm *algorithm;
    conv_run *run; /* the algorithm on this engine */
    uint64_t seed;
    int batch;
    int size; /* side of the current planes */
    struct buffer data;
};

struct parameters {
    struct buffer weight, bias;
};

static void parameters_release(struct buffers *buffers, struct parameters *parameters)
{
    buffer_release(buffers, &parameters->bias);
    buffer_release(buffers, &parameters->weight);
}

/* Numbers evenly spread over [-bound, bound], the same on every device. */
static int fill(struct engine *engine, const struct buffer *buffer, uint64_t seed, uint64_t stream,
                float bound)
{
    const struct uniform numbers = {.seed = seed, .stream = stream, .bound = bound};

    return engine->backend->fill(engine, buffer->data, buffer->bytes / sizeof(float), &numbers);
}

/* He's bound keeps the activations' scale from layer to layer under ReLU. The
 * layer's number is its stream, so that size and algorithm change no weight. */
static int parameters_new(const struct pass *pass, const struct layer *layer, size_t fan_in,
                          struct parameters *ret)
{
    struct buffers *buffers = &pass->engine->buffers;
    struct parameters made = {{0}, {0}};
    size_t out = (size_t)layer->out;
    uint64_t stream = (uint64_t)(layer - layers);
    int rc;

    rc = buffer_new(buffers, "weight", MEMLEDGER_PARAMETER, out * fan_in, &made.weight);
    if (rc)
        return rc;
    rc = buffer_new(buffers, "bias", MEMLEDGER_PARAMETER, out, &made.bias);
    if (!rc)
        rc = fill(pass->engine, &made.weight, pass->seed, stream, sqrtf(6.0f / (float)fan_in));
    if (!rc)
        rc = fill(pass->engine, &made.bias, pass->seed, BIAS_STREAM + stream, BIAS_BOUND);
    if (rc)
        parameters_release(buffers, &made);
    else
        *ret = made;
    return rc;
}

static int output_new(struct pass *pass, size_t count, struct buffer *ret)
{
    return buffer_new(&pass->engine->buffers, "output", MEMLEDGER_ACTIVATION, count, ret);
}

/* Makes the layer's output the current data, unless the layer failed. */
static void finish(struct pass *pass, struct buffer *output, int rc)
{
    struct buffer *over = rc ? output : &pass->data;

    buffer_release(&pass->engine->buffers, over);
    if (!rc)
        pass->data = *output;
}

static int run_conv(struct pass *pass, const struct layer *layer)
{
    struct conv_shape shape = {
        .batch = pass->batch,
        .in = layer->in,
        .out = layer->out,
        .size = pass->size,
    };
    size_t images = (size_t)pass->batch;
    struct engine *engine = pass->engine;
    struct parameters parameters = {{0}, {0}};
    struct buffer output = {0};
    int rc;

    rc = parameters_new(pass, layer, (size_t)layer->in * TAPS, &parameters);
    if (rc)
        return rc;
    rc = output_new(pass, images * conv_output_count(&shape), &output);
    if (rc)
        goto out;
    memledger_push_kind(MEMLEDGER_SCOPE_OPERATOR, pass->algorithm->scope);
    rc = pass->run(engine, &shape, pass->data.data, parameters.weight.data, output.data);
    memledger_pop();
    if (!rc)
        rc = engine->backend->bias_relu(engine, output.data, parameters.bias.data, images,
                                        (size_t)shape.out, conv_plane(&shape));
    finish(pass, &output, rc);
out:
    parameters_release(&engine->buffers, &parameters);
    return rc;
}

static int run_pool(struct pass *pass, const struct layer *layer)
{
    struct engine *engine = pass->engine;
    const struct backend *backend = engine->backend;
    size_t size = (size_t)pass->size;
    size_t side = layer->kind == MAX_POOL ? size / 2 : FEATURE_SIDE;
    size_t channels = (size_t)pass->batch * (size_t)layer->out;
    struct buffer output = {0};
    int rc = output_new(pass, channels * side * side, &output);

    if (rc)
        return rc;
    if (layer->kind == MAX_POOL)
        rc = backend->max_pool(engine, pass->data.data, channels, size, output.data);
    else
        rc = backend->adaptive_pool(engine, pass->data.data, channels, size, side, output.data);
    finish(pass, &output, rc);
    pass->size = (int)side;
    return rc;
}

static int run_linear(struct pass *pass, const struct layer *layer)
{
    struct engine *engine = pass->engine;
    size_t images = (size_t)pass->batch;
    struct parameters parameters = {{0}, {0}};
    struct buffer output = {0};
    int rc;

    rc = parameters_new(pass, layer, (size_t)layer->in, &parameters);
    if (rc)
        return rc;
    rc = output_new(pass, images * (size_t)layer->out, &output);
    if (!rc) {
        const struct linear linear = {
            .weight = parameters.weight.data,
            .bias = parameters.bias.data,
            .in = (size_t)layer->in,
            .out = (size_t)layer->out,
            .relu = layer->kind == LINEAR_RELU,
        };

        rc = engine->backend->linear(engine, &linear, pass->data.data, images, output.data);
        finish(pass, &output, rc);
    }
    parameters_release(&engine->buffers, &parameters);
    return rc;
}

static int run_layer(struct pass *pass, const struct layer *layer)
{
    switch (layer->kind) {
    case CONV: return run_conv(pass, layer);
    case MAX_POOL:
    case ADAPTIVE_POOL: return run_pool(pass, layer);
    default: return run_linear(pass, layer);
    }
}

/* Between two layers the activation waits on the host. */
static int run_step(struct pass *pass, const struct layer *layer)
{
    struct engine *engine = pass->engine;
    int rc = engine->backend->fetch(engine, &pass->data);

    if (rc)
        return rc;
    rc = run_layer(pass, layer);
    if (!rc)
        return engine->backend->park(engine, &pass->data);
    buffer_release(&engine->buffers, &pass->data);
    return rc;
}

/* A stream for each image. */
static int fill_images(struct engine *engine, const struct network_task *task,
                       const struct buffer *input)
{
    struct buffer image = {.data = input->data, .bytes = input->bytes / (size_t)task->batch};
    int rc = 0;

    for (int i = 0; i < task->batch && !rc; i++) {
        rc = fill(engine, &image, task->seed, INPUT_STREAM + (uint64_t)i, UNIT_BOUND);
        image.data += image.bytes / sizeof(float);
    }
    return rc;
}

int network_input(struct engine *engine, const struct network_task *task, struct buffer *ret)
{
    size_t plane = (size_t)task->size * (size_t)task->size;
    size_t count = (size_t)task->batch * IMAGE_CHANNELS * plane;
    struct buffer made = {0};
    int rc = buffer_new(&engine->buffers, "input", MEMLEDGER_INPUT, count, &made);

    if (rc)
        return rc;
    rc = fill_images(engine, task, &made);
    if (rc)
        buffer_release(&engine->buffers, &made);
    else
        rc = engine->backend->park(engine, &made);
    *ret = made;
    return rc;
}

int network_forward(struct engine *engine, const struct conv_algorithm *algorithm,
                    const struct network_task *task, struct buffer *input, struct buffer *ret)
{
    struct pass pass = {
        .engine = engine,
        .algorithm = algorithm,
        .run = engine->cuda ? algorithm->run_cuda : algorithm->run,
        .seed = task->seed,
        .batch = task->batch,
        .size = task->size,
        .data = *input,
    };
    int rc = 0;

    *input = (struct buffer){0};
    for (int i = 0; i < LAYER_COUNT && !rc; i++) {
        buffers_enter(&engine->buffers, layers[i].name);
        rc = run_step(&pass, &layers[i]);
        buffers_leave(&engine->buffers);
    }
    if (!rc)
        *ret = pass.data;
    return rc;
}
