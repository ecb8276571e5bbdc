/* mlp_ops.h: the calls of MXNet's C API that a training loop needs, as one function each. A
 * failure prints MXNet's message on stderr and ends the program.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MLP_OPS_H
#define MLP_OPS_H

#include <mxnet/c_api.h>
#include <stddef.h>

/** Ends the program when a call of the C API did not return 0. */
#define CHECK(call) mlp_check((call), #call)
void mlp_check(int code, const char *call);

/** One key and value of an operator, or of the profiler. */
struct mlp_param {
    const char *key, *value;
};

/**
 * A float array of one or two dimensions on the host; `columns` 0 makes it one.
 * @return released with MXNDArrayFree
 */
NDArrayHandle mlp_array(unsigned rows, unsigned columns, const float *values);

/**
 * Runs the operator `name`. The parameters end with a null key.
 * @return its first output, released with MXNDArrayFree
 */
NDArrayHandle mlp_invoke(const char *name, const NDArrayHandle *inputs, int input_count,
                         const struct mlp_param *params);

/* * The same, into an existing array. */
void mlp_invoke_into(NDArrayHandle output, const char *name, const NDArrayHandle *inputs,
                     int input_count, const struct mlp_param *params);

/* * Passes key and value of each parameter to MXNet's profiler. */
void mlp_profiler_config(const struct mlp_param *params);

#endif
