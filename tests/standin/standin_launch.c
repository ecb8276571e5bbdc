/* standin_launch.c: launches. Kernels do nothing; functions on the host are called.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "standin_driver.h"

static int launch(struct standin_function *function)
{
    struct standin_context *context;
    int status = standin_lock_context(&context);
    if (status)
        return status;
    if (!function)
        return standin_unlock(CUDA_ERROR_INVALID_HANDLE);
    return standin_unlock(standin_function_load(function, context));
}

/* Sizes, stream and parameters follow in the real one's arguments. */
STANDIN_ENTRY(cuLaunchKernel, struct standin_function *function)
{
    return launch(function);
}

STANDIN_ENTRY(cuLaunchKernelEx, const void *config, struct standin_function *function)
{
    (void)config;
    return launch(function);
}

STANDIN_ENTRY(cuLaunchHostFunc, void *stream, void (*function)(void *), void *data)
{
    (void)stream;
    if (!function)
        return CUDA_ERROR_INVALID_VALUE;
    function(data);
    return CUDA_SUCCESS;
}

STANDIN_ENTRY(cuStreamAddCallback, void *stream, void (*function)(void *, int, void *), void *data)
{
    function(stream, CUDA_SUCCESS, data);
    return CUDA_SUCCESS;
}

/* One block fits, whatever it is. */
STANDIN_ENTRY(cuOccupancyMaxActiveBlocksPerMultiprocessor, int *ret_blocks)
{
    *ret_blocks = 1;
    return CUDA_SUCCESS;
}
