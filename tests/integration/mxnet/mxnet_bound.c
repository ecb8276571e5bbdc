/* mxnet_bound.c: a program in C that trains a small network whose arrays it binds to a symbol.
 *
 *     mxnet_bound simple    MXNet makes the arrays
 *     mxnet_bound given     the program makes them
 *     mxnet_bound cached    the symbol is a CachedOp, under autograd
 *     mxnet_bound late      likewise, and gets its gradients after the first call
 *     mxnet_bound profiled  likewise, and MXNet's profiler counts the calls of the first step
 *
 * The list of argument names that the program got before must stay as it is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <mxnet/c_api.h>
#include <nnvm/c_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ON_HOST = 1, FLOAT32 = 0, BATCH = 64, INPUTS = 512, HIDDEN = 256, CLASSES = 64, MOST = 16 };

#define OK(call) check(call, #call)
static void check(int code, const char *call)
{
    if (!code)
        return;
    fprintf(stderr, "%s: %s\n", call, MXGetLastError());
    exit(1);
}

/* ---- The network ------------------------------------------------------------ */

static SymbolHandle layer(const char *op_name, const char *name, SymbolHandle input,
                          const char *key, const char *value)
{
    SymbolHandle symbol;
    OpHandle op;

    OK(NNGetOpHandle(op_name, &op));
    OK(NNSymbolCreateAtomicSymbol(op, key != NULL, &key, &value, &symbol));
    OK(NNSymbolCompose(symbol, name, 1, NULL, &input));
    return symbol;
}

static SymbolHandle network(void)
{
    SymbolHandle data;

    OK(MXSymbolCreateVariable("data", &data));
    data = layer("FullyConnected", "fc1", data, "num_hidden", "256");
    data = layer("BatchNorm", "bn1", data, NULL, NULL);
    data = layer("Activation", "relu1", data, "act_type", "relu");
    data = layer("FullyConnected", "fc2", data, "num_hidden", "64");
    return layer("SoftmaxOutput", "softmax", data, NULL, NULL);
}

/* By the ends of the names. */
static uint32_t shape_of(const char *name, uint32_t shape[2])
{
    static const struct {
        const char *name;
        uint32_t shape[2];
    } known[] = {{"data", {BATCH, INPUTS}},
                 {"fc1_weight", {HIDDEN, INPUTS}},
                 {"fc2_weight", {CLASSES, HIDDEN}},
                 {"fc2_bias", {CLASSES, 0}},
                 {"softmax_label", {BATCH, 0}}};

    shape[0] = HIDDEN;
    shape[1] = 0;
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (!strcmp(name, known[i].name))
            memcpy(shape, known[i].shape, sizeof(known[i].shape));
    return shape[1] ? 2 : 1;
}

static NDArrayHandle array_for(const char *name)
{
    uint32_t shape[2], dimensions = shape_of(name, shape);
    size_t count = (size_t)shape[0] * (shape[1] ? shape[1] : 1);
    float *values = malloc(count * sizeof(*values));
    NDArrayHandle array;

#ifdef HAS_DTYPE_ARGUMENT
    OK(MXNDArrayCreate(shape, dimensions, ON_HOST, 0, 0, FLOAT32, &array));
#else
    OK(MXNDArrayCreateEx(shape, dimensions, ON_HOST, 0, 0, FLOAT32, &array));
#endif
    for (size_t i = 0; i < count; i++)
        values[i] = (float)(i % 7) / 100;
    OK(MXNDArraySyncCopyFromCPU(array, values, count));
    free(values);
    return array;
}

static void arrays_for(const char *const *names, uint32_t count, NDArrayHandle *ret)
{
    for (uint32_t i = 0; i < count; i++)
        ret[i] = array_for(names[i]);
}

/* ---- Executors -------------------------------------------------------------- */

#ifndef HAS_DTYPE_ARGUMENT
static void train(ExecutorHandle executor)
{
    for (int i = 0; i < 3; i++) {
        OK(MXExecutorForward(executor, 1));
        OK(MXExecutorBackward(executor, 0, NULL));
    }
    OK(MXNDArrayWaitAll());
}

static ExecutorHandle bind_simply(SymbolHandle symbol)
{
    const char *shape_names[] = {"data", "softmax_label"}, *request = "write";
    const uint32_t ends[] = {0, 2, 3};
    const int shapes[] = {BATCH, INPUTS, BATCH};
    uint32_t count, state_count;
    NDArrayHandle *arguments, *gradients, *states;
    int shared = -1;
    const char **shared_names;
    NDArrayHandle *shared_arrays;
    ExecutorHandle executor;

    OK(MXExecutorSimpleBindEx(symbol, ON_HOST, 0, 0, NULL, NULL, NULL, 0, NULL, &request, 2,
                              shape_names, shapes, ends, 0, NULL, NULL, 0, NULL, NULL, 0, NULL,
                              &shared, NULL, NULL, &shared_names, &shared_arrays, &count,
                              &arguments, &gradients, &state_count, &states, NULL, &executor));
    return executor;
}

static ExecutorHandle bind_given(SymbolHandle symbol)
{
    NDArrayHandle arguments[MOST], gradients[MOST], states[MOST];
    uint32_t requests[MOST], count, state_count;
    const char **names;
    ExecutorHandle executor;

    OK(MXSymbolListAuxiliaryStates(symbol, &state_count, &names));
    arrays_for(names, state_count, states);
    OK(MXSymbolListArguments(symbol, &count, &names));
    arrays_for(names, count, arguments);
    arrays_for(names, count, gradients);
    for (uint32_t i = 0; i < count; i++)
        requests[i] = 1;
    OK(MXExecutorBind(symbol, ON_HOST, 0, count, arguments, gradients, requests, state_count,
                      states, &executor));
    return executor;
}

static void run(SymbolHandle symbol, const char *how)
{
    train(!strcmp(how, "given") ? bind_given(symbol) : bind_simply(symbol));
}
#else
/* ---- CachedOps -------------------------------------------------------------- */

static NDArrayHandle call(CachedOpHandle op, uint32_t count, NDArrayHandle *arguments)
{
    NDArrayHandle *outputs = NULL;
    int output_count = 0;
    const int *types;

    OK(MXInvokeCachedOp(op, (int)count, arguments, ON_HOST, 0, &output_count, &outputs, &types));
    return outputs[0];
}

static void attach_gradients(const char *const *names, uint32_t count, NDArrayHandle *arguments)
{
    NDArrayHandle gradients[MOST];
    uint32_t requests[MOST];

    arrays_for(names, count, gradients);
    for (uint32_t i = 0; i < count; i++)
        requests[i] = strstr(names[i], "moving") ? 0 : 1;
    OK(MXAutogradMarkVariables(count, arguments, requests, gradients));
}

static void start_profiler(void)
{
    const char *const keys[] = {"profile_api", "filename"}, *const values[] = {"1", "profile.json"};

    OK(MXSetProcessProfilerConfig(2, keys, values, NULL));
    OK(MXSetProcessProfilerState(1, 0, NULL));
}

static void run(SymbolHandle symbol, const char *how)
{
    NDArrayHandle arguments[MOST], output;
    CachedOpHandle op;
    const char **names;
    uint32_t count;
    int before;

    OK(NNSymbolListInputNames(symbol, 0, &count, &names));
    arrays_for(names, count, arguments);
    OK(MXCreateCachedOp(symbol, 0, NULL, NULL, &op, 0));
    if (!strcmp(how, "late"))
        call(op, count, arguments);
    if (!strcmp(how, "profiled"))
        start_profiler();
    attach_gradients(names, count, arguments);
    OK(MXAutogradSetIsRecording(1, &before));
    OK(MXAutogradSetIsTraining(1, &before));
    output = call(op, count, arguments);
    OK(MXAutogradBackwardEx(1, &output, NULL, 0, NULL, 0, 0, 1, NULL, NULL));
    OK(MXSetProcessProfilerState(0, 0, NULL));
    arguments[0] = array_for(names[0]); /* the next batch */
    call(op, count, arguments);
    OK(MXNDArrayWaitAll());
    OK(MXFreeCachedOp(op));
    OK(MXFreeCachedOp(NULL)); /* as harmless as free(NULL) */
}
#endif

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "simple";
    SymbolHandle symbol = network();
    const char **names;
    uint32_t count;

    OK(MXSymbolListArguments(symbol, &count, &names));
    run(symbol, how);
    if (!strcmp(how, "simple"))
        for (uint32_t i = 0; i < count; i++)
            printf("%s ", names[i]);
    puts("done");
    fflush(stdout);
    _Exit(0);
}
