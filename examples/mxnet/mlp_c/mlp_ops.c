/* SPDX-License-Identifier: Apache-2.0 */
#include "mlp_ops.h"

#include <nnvm/c_api.h>
#include <stdio.h>
#include <stdlib.h>

enum { ON_HOST = 1, FLOAT32 = 0, NOT_DELAYED = 0, PARAMS_MAX = 16 };

void mlp_check(int code, const char *call)
{
    if (!code)
        return;
    fprintf(stderr, "mlp: %s: %s\n", call, MXGetLastError());
    exit(1);
}

NDArrayHandle mlp_array(unsigned rows, unsigned columns, const float *values)
{
    const uint32_t shape[] = {rows, columns};
    uint32_t dimensions = columns ? 2 : 1;
    NDArrayHandle array;

#if MXNET_MAJOR >= 2
    CHECK(MXNDArrayCreate(shape, dimensions, ON_HOST, 0, NOT_DELAYED, FLOAT32, &array));
#else
    CHECK(MXNDArrayCreateEx(shape, dimensions, ON_HOST, 0, NOT_DELAYED, FLOAT32, &array));
#endif
    CHECK(MXNDArraySyncCopyFromCPU(array, values, (size_t)rows * (columns ? columns : 1)));
    return array;
}

/* Separate arrays of keys and values, as MXNet expects them. */
static int split(const struct mlp_param *params, const char **keys, const char **values)
{
    int count = 0;

    for (; params && params[count].key; count++) {
        if (count == PARAMS_MAX) {
            fprintf(stderr, "mlp: more than %d parameters; raise PARAMS_MAX\n", PARAMS_MAX);
            exit(1);
        }
        keys[count] = params[count].key;
        values[count] = params[count].value;
    }
    return count;
}

static void invoke(const char *name, const NDArrayHandle *inputs, int input_count,
                   const struct mlp_param *params, int *output_count, NDArrayHandle **outputs)
{
    const char *keys[PARAMS_MAX], *values[PARAMS_MAX];
    int count = split(params, keys, values);
    OpHandle op;

    CHECK(NNGetOpHandle(name, &op));
#if MXNET_MAJOR >= 2
    const int *storage_types;

    mlp_check(MXImperativeInvoke(op, input_count, (NDArrayHandle *)inputs, output_count, outputs,
                                 count, keys, values, &storage_types),
              name);
#else
    mlp_check(MXImperativeInvoke(op, input_count, (NDArrayHandle *)inputs, output_count, outputs,
                                 count, keys, values),
              name);
#endif
}

NDArrayHandle mlp_invoke(const char *name, const NDArrayHandle *inputs, int input_count,
                         const struct mlp_param *params)
{
    int count = 0;
    NDArrayHandle *outputs = NULL;

    invoke(name, inputs, input_count, params, &count, &outputs);
    return outputs[0];
}

void mlp_invoke_into(NDArrayHandle output, const char *name, const NDArrayHandle *inputs,
                     int input_count, const struct mlp_param *params)
{
    int count = 1;
    NDArrayHandle *outputs = &output;

    invoke(name, inputs, input_count, params, &count, &outputs);
}

void mlp_profiler_config(const struct mlp_param *params)
{
    const char *keys[PARAMS_MAX], *values[PARAMS_MAX];
    int count = split(params, keys, values);

    CHECK(MXSetProfilerConfig(count, keys, values));
}
