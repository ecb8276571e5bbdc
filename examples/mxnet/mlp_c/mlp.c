/* mlp.c: a multi-layer perceptron, trained through MXNet's C API with MXNet's profiler around
 * it. It does not use memledger; see README.md.
 *
 * The data is synthetic: each class has a centre, and its samples are near it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mlp_ops.h"

enum { LAYERS = 3, WRITE_GRADIENT = 1 };

struct options {
    unsigned steps, batch, inputs, hidden, classes, seed;
    const char *profile;
};

/* One fully connected layer: parameters, gradients, momentum. */
struct layer {
    char units[16];
    NDArrayHandle weight[2], gradient[2], momentum[2];
};

struct model {
    struct options options;
    struct layer layers[LAYERS];
    float *centres, *batch, *labels, *probabilities;
};

/* The objects that the profiler shows in addition to MXNet's own. */
struct marks {
    ProfileHandle domain, step, loss;
};

static uint32_t random_state;

/* In [-1, 1); the same everywhere for the same seed. */
static float random_value(void)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (float)(random_state >> 8) / (float)(1 << 23) - 1.0f;
}

static void *need(size_t count, size_t size)
{
    void *memory = calloc(count, size);

    if (!memory) {
        fprintf(stderr, "mlp: no memory for %zu values; try a smaller --batch\n", count);
        exit(1);
    }
    return memory;
}

/* `scale` 0 gives zeros. */
static NDArrayHandle random_array(unsigned rows, unsigned columns, float scale)
{
    size_t count = (size_t)rows * (columns ? columns : 1);
    float *values = need(count, sizeof(*values));

    for (size_t i = 0; scale > 0 && i < count; i++)
        values[i] = scale * random_value();
    NDArrayHandle array = mlp_array(rows, columns, values);
    free(values);
    return array;
}

static void layer_init(struct layer *layer, unsigned from, unsigned to)
{
    const unsigned columns[] = {from, 0};
    uint32_t requests[] = {WRITE_GRADIENT, WRITE_GRADIENT};

    snprintf(layer->units, sizeof(layer->units), "%u", to);
    for (int i = 0; i < 2; i++) {
        layer->weight[i] = random_array(to, columns[i], i ? 0 : sqrtf(3.0f / (float)from));
        layer->gradient[i] = random_array(to, columns[i], 0);
        layer->momentum[i] = random_array(to, columns[i], 0);
    }
    CHECK(MXAutogradMarkVariables(2, layer->weight, requests, layer->gradient));
}

static void layer_release(struct layer *layer)
{
    for (int i = 0; i < 2; i++) {
        CHECK(MXNDArrayFree(layer->weight[i]));
        CHECK(MXNDArrayFree(layer->gradient[i]));
        CHECK(MXNDArrayFree(layer->momentum[i]));
    }
}

static void model_init(struct model *model, const struct options *options)
{
    const unsigned widths[LAYERS + 1] = {options->inputs, options->hidden, options->hidden / 2,
                                         options->classes};
    size_t centre_values = (size_t)options->classes * options->inputs;

    model->options = *options;
    model->centres = need(centre_values, sizeof(float));
    model->batch = need((size_t)options->batch * options->inputs, sizeof(float));
    model->labels = need(options->batch, sizeof(float));
    model->probabilities = need((size_t)options->batch * options->classes, sizeof(float));
    for (size_t i = 0; i < centre_values; i++)
        model->centres[i] = random_value();
    for (int i = 0; i < LAYERS; i++)
        layer_init(&model->layers[i], widths[i], widths[i + 1]);
}

static void model_release(struct model *model)
{
    for (int i = 0; i < LAYERS; i++)
        layer_release(&model->layers[i]);
    free(model->centres);
    free(model->batch);
    free(model->labels);
    free(model->probabilities);
}

static void next_batch(struct model *model)
{
    unsigned inputs = model->options.inputs;

    for (unsigned row = 0; row < model->options.batch; row++) {
        unsigned chosen = (unsigned)((random_value() + 1) / 2 * (float)model->options.classes);

        model->labels[row] = (float)chosen;
        for (unsigned i = 0; i < inputs; i++)
            model->batch[row * inputs + i] = model->centres[chosen * inputs + i] + random_value();
    }
}

/* One layer, with a relu unless it is the last. Takes over `input`. */
static NDArrayHandle layer_forward(const struct layer *layer, NDArrayHandle input, int is_last)
{
    NDArrayHandle inputs[] = {input, layer->weight[0], layer->weight[1]};
    const struct mlp_param units[] = {{"num_hidden", layer->units}, {NULL, NULL}};
    const struct mlp_param relu[] = {{"act_type", "relu"}, {NULL, NULL}};
    NDArrayHandle output = mlp_invoke("FullyConnected", inputs, 3, units);

    CHECK(MXNDArrayFree(input));
    if (is_last)
        return output;
    NDArrayHandle active = mlp_invoke("Activation", &output, 1, relu);
    CHECK(MXNDArrayFree(output));
    return active;
}

/* The mean of -log p of the right class. */
static float mean_loss(struct model *model, NDArrayHandle output)
{
    unsigned classes = model->options.classes, batch = model->options.batch;
    double sum = 0;

    CHECK(MXNDArraySyncCopyToCPU(output, model->probabilities, (size_t)batch * classes));
    for (unsigned row = 0; row < batch; row++)
        sum -= log(model->probabilities[row * classes + (unsigned)model->labels[row]] + 1e-12);
    return (float)(sum / batch);
}

static float forward_backward(struct model *model)
{
    int was;
    NDArrayHandle x = mlp_array(model->options.batch, model->options.inputs, model->batch);
    NDArrayHandle labels = mlp_array(model->options.batch, 0, model->labels);

    CHECK(MXAutogradSetIsRecording(1, &was));
    CHECK(MXAutogradSetIsTraining(1, &was));
    for (int i = 0; i < LAYERS; i++)
        x = layer_forward(&model->layers[i], x, i == LAYERS - 1);
    NDArrayHandle inputs[] = {x, labels};
    NDArrayHandle output = mlp_invoke("SoftmaxOutput", inputs, 2, NULL);
    CHECK(MXAutogradSetIsRecording(0, &was));
    CHECK(MXAutogradBackward(1, &output, NULL, 0));

    float loss = mean_loss(model, output);
    CHECK(MXNDArrayFree(output));
    CHECK(MXNDArrayFree(x));
    CHECK(MXNDArrayFree(labels));
    return loss;
}

static void update(struct model *model)
{
    char rescale[32];
    const struct mlp_param params[] = {
        {"lr", "0.05"}, {"momentum", "0.9"}, {"rescale_grad", rescale}, {NULL, NULL}};

    snprintf(rescale, sizeof(rescale), "%.9g", 1.0 / model->options.batch);
    for (int i = 0; i < LAYERS; i++)
        for (int k = 0; k < 2; k++) {
            const struct layer *l = &model->layers[i];
            NDArrayHandle inputs[] = {l->weight[k], l->gradient[k], l->momentum[k]};

            mlp_invoke_into(l->weight[k], "sgd_mom_update", inputs, 3, params);
        }
}

static void profiler_start(const char *file, struct marks *marks)
{
    const struct mlp_param config[] = {
        {"profile_all", "true"}, {"filename", file}, {"continuous_dump", "true"}, {NULL, NULL}};

    mlp_profiler_config(config);
    CHECK(MXSetProfilerState(1));
    CHECK(MXProfileCreateDomain("mlp", &marks->domain));
    CHECK(MXProfileCreateFrame(marks->domain, "step", &marks->step));
    CHECK(MXProfileCreateCounter(marks->domain, "loss_micro", &marks->loss));
}

static void profiler_stop(struct marks *marks)
{
    CHECK(MXProfileSetMarker(marks->domain, "trained", "process"));
    CHECK(MXSetProfilerState(0));
    CHECK(MXDumpProfile(1));
    CHECK(MXProfileDestroyHandle(marks->step));
    CHECK(MXProfileDestroyHandle(marks->loss));
}

static void train(struct model *model, struct marks *marks)
{
    for (unsigned step = 0; step < model->options.steps; step++) {
        next_batch(model);
        CHECK(MXProfileDurationStart(marks->step));
        float loss = forward_backward(model);
        update(model);
        CHECK(MXNDArrayWaitAll());
        CHECK(MXProfileDurationStop(marks->step));
        CHECK(MXProfileSetCounter(marks->loss, (uint64_t)(loss * 1e6f)));
        printf("step %u loss %.4f\n", step, loss);
    }
}

static unsigned number(const char *text, const char *option)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    if (*end || end == text || value < 1 || value > 1000000) {
        fprintf(stderr, "mlp: --%s takes a number from 1 to 1000000, not '%s'\n", option, text);
        exit(2);
    }
    return (unsigned)value;
}

/* Call before the first use of the engine, which reads the variable once. */
static void choose_engine(const char *name)
{
    if (!strcmp(name, "naive"))
        setenv("MXNET_ENGINE_TYPE", "NaiveEngine", 1);
    else if (strcmp(name, "threaded")) {
        fprintf(stderr, "mlp: --engine is naive or threaded, not '%s'\n", name);
        exit(2);
    }
}

static const char help[] =
    "usage: mlp [--steps N] [--batch N] [--inputs N] [--hidden N] [--classes N] [--seed N]\n"
    "           [--paper] [--engine naive|threaded] [--profile FILE]\n"
    "Trains a perceptron of three layers with MXNet's profiler around it.\n"
    "  --paper   batch 100, 784 inputs, 1024 hidden units, 10 classes: MNIST's shapes\n"
    "  --profile where MXNet's profile goes (mlp_profile.json)\n";

static struct options parse(int argc, char **argv)
{
    static const struct option known[] = {
        {"steps", 1, NULL, 's'},  {"batch", 1, NULL, 'b'},   {"inputs", 1, NULL, 'i'},
        {"hidden", 1, NULL, 'h'}, {"classes", 1, NULL, 'c'}, {"seed", 1, NULL, 'r'},
        {"paper", 0, NULL, 'p'},  {"engine", 1, NULL, 'e'},  {"profile", 1, NULL, 'f'},
        {"help", 0, NULL, '?'},   {NULL, 0, NULL, 0}};
    struct options o = {20, 32, 64, 64, 10, 1, "mlp_profile.json"};

    for (int c, at = 0; (c = getopt_long(argc, argv, "", known, &at)) != -1;) {
        const char *name = known[at].name;

        switch (c) {
        case 's': o.steps = number(optarg, name); break;
        case 'b': o.batch = number(optarg, name); break;
        case 'i': o.inputs = number(optarg, name); break;
        case 'h': o.hidden = number(optarg, name); break;
        case 'c': o.classes = number(optarg, name); break;
        case 'r': o.seed = number(optarg, name); break;
        case 'p': o.batch = 100, o.inputs = 784, o.hidden = 1024, o.classes = 10; break;
        case 'e': choose_engine(optarg); break;
        case 'f': o.profile = optarg; break;
        default: fputs(help, stderr); exit(2);
        }
    }
    return o;
}

int main(int argc, char **argv)
{
    struct options options = parse(argc, argv);
    struct model model;
    struct marks marks;
    int version;

    random_state = options.seed;
    CHECK(MXGetVersion(&version));
    printf("mxnet %d.%d.%d\n", version / 10000, version / 100 % 100, version % 100);
    profiler_start(options.profile, &marks);
    model_init(&model, &options);
    train(&model, &marks);
    model_release(&model);
    CHECK(MXNDArrayWaitAll());
    profiler_stop(&marks);
    return 0;
}
