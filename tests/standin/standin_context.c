/* standin_context.c: primary and other contexts, and which one is current.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "standin_driver.h"

#include <stdlib.h>

/* As seen on an H200: 523.6 MiB, of which a part is in no process's number. */
#define CONTEXT_BYTES ((uint64_t)548995072)
#define CONTEXT_HIDDEN_BYTES ((int64_t)5832704)

#define STACK_LIMIT 0
#define DEFAULT_STACK_BYTES 1024
#define CURRENT_MAX 64

static struct standin_context *contexts;
static struct standin_context *primaries[STANDIN_DEVICES_MAX];

static _Thread_local struct standin_context *current[CURRENT_MAX];
static _Thread_local int depth; /* of the stack; the last one is current */

static bool exists(const struct standin_context *context)
{
    for (const struct standin_context *c = contexts; c; c = c->next) {
        if (c == context)
            return true;
    }
    return false;
}

int standin_lock_context(struct standin_context **ret_context)
{
    int status = standin_lock();
    if (status)
        return status;
    struct standin_context *context = depth ? current[depth - 1] : NULL;
    if (!context)
        return standin_unlock(CUDA_ERROR_INVALID_CONTEXT);
    if (!exists(context))
        return standin_unlock(CUDA_ERROR_CONTEXT_IS_DESTROYED);
    *ret_context = context;
    return CUDA_SUCCESS;
}

static int make(int ordinal, unsigned flags, struct standin_context **ret_context)
{
    struct standin_context *context = calloc(1, sizeof *context);
    if (!context || standin_take(ordinal, CONTEXT_BYTES)) {
        free(context);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    standin_state_charge(standin_nvml_number(ordinal), -CONTEXT_HIDDEN_BYTES, CONTEXT_HIDDEN_BYTES);
    context->ordinal = ordinal;
    context->flags = flags;
    context->limits[STACK_LIMIT] = DEFAULT_STACK_BYTES;
    context->next = contexts;
    contexts = context;
    *ret_context = context;
    return CUDA_SUCCESS;
}

static void end(struct standin_context *context)
{
    struct standin_context **link = &contexts;
    while (*link != context)
        link = &(*link)->next;
    *link = context->next;
    standin_blocks_end(context);
    standin_code_context_end(context);
    if (context->primary) {
        primaries[context->ordinal] = NULL;
        standin_pools_context_end(context->ordinal);
        standin_graphs_context_end(context->ordinal);
    }
    standin_state_charge(standin_nvml_number(context->ordinal), CONTEXT_HIDDEN_BYTES,
                         -CONTEXT_HIDDEN_BYTES);
    standin_give(context->ordinal, CONTEXT_BYTES + context->taken_bytes);
    free(context);
}

/* ---- Primary contexts --------------------------------------------------------- */

STANDIN_ENTRY(cuDevicePrimaryCtxRetain, struct standin_context **ret_context, int device)
{
    int status = standin_lock_device(device);
    if (status)
        return status;
    if (!primaries[device]) {
        status = make(device, 0, &primaries[device]);
        if (status)
            return standin_unlock(status);
        primaries[device]->primary = true;
    }
    primaries[device]->references++;
    *ret_context = primaries[device];
    return standin_unlock_late(CUDA_SUCCESS);
}

STANDIN_ENTRY(cuDevicePrimaryCtxRelease_v2, int device)
{
    int status = standin_lock_device(device);
    if (status)
        return status;
    struct standin_context *context = primaries[device];
    if (!context || !context->references)
        status = CUDA_ERROR_INVALID_CONTEXT;
    else if (--context->references == 0)
        end(context);
    return standin_unlock(status);
}

STANDIN_ENTRY(cuDevicePrimaryCtxReset_v2, int device)
{
    int status = standin_lock_device(device);
    if (status)
        return status;
    if (primaries[device])
        end(primaries[device]);
    return standin_unlock(CUDA_SUCCESS);
}

STANDIN_ENTRY(cuDevicePrimaryCtxGetState, int device, unsigned *ret_flags, int *ret_active)
{
    int status = standin_lock_device(device);
    if (status)
        return status;
    *ret_active = primaries[device] != NULL;
    *ret_flags = primaries[device] ? primaries[device]->flags : 0;
    return standin_unlock(CUDA_SUCCESS);
}

STANDIN_ENTRY(cuDevicePrimaryCtxSetFlags_v2, int device, unsigned flags)
{
    int status = standin_lock_device(device);
    if (status)
        return status;
    if (primaries[device])
        primaries[device]->flags = flags;
    return standin_unlock(CUDA_SUCCESS);
}

/* ---- Contexts of a program's own -------------------------------------------------- */

static int create(struct standin_context **ret_context, unsigned flags, int device)
{
    int status = standin_lock_device(device);
    if (status)
        return status;
    if (depth == CURRENT_MAX)
        return standin_unlock(CUDA_ERROR_OUT_OF_MEMORY);
    status = make(device, flags, ret_context);
    if (status == CUDA_SUCCESS)
        current[depth++] = *ret_context;
    return standin_unlock(status);
}

STANDIN_ENTRY(cuCtxCreate_v2, struct standin_context **ret_context, unsigned flags, int device)
{
    return create(ret_context, flags, device);
}

STANDIN_ENTRY(cuCtxCreate_v3, struct standin_context **ret_context, void *affinities,
              int affinity_count, unsigned flags, int device)
{
    (void)affinities;
    (void)affinity_count;
    return create(ret_context, flags, device);
}

STANDIN_ENTRY(cuCtxCreate_v4, struct standin_context **ret_context, void *params, unsigned flags,
              int device)
{
    (void)params;
    return create(ret_context, flags, device);
}

STANDIN_ENTRY(cuCtxDestroy_v2, struct standin_context *context)
{
    int status = standin_lock();
    if (status)
        return status;
    if (!exists(context) || context->primary)
        return standin_unlock(CUDA_ERROR_INVALID_CONTEXT);
    if (depth && current[depth - 1] == context)
        depth--;
    end(context);
    return standin_unlock(CUDA_SUCCESS);
}

/* ---- Current --------------------------------------------------------------------- */

STANDIN_ENTRY(cuCtxGetCurrent, struct standin_context **ret_context)
{
    int status = standin_lock();
    if (status)
        return status;
    *ret_context = depth ? current[depth - 1] : NULL;
    return standin_unlock(CUDA_SUCCESS);
}

STANDIN_ENTRY(cuCtxSetCurrent, struct standin_context *context)
{
    int status = standin_lock();
    if (status)
        return status;
    if (context && !exists(context))
        return standin_unlock(CUDA_ERROR_INVALID_CONTEXT);
    if (depth)
        depth--;
    if (context)
        current[depth++] = context;
    return standin_unlock(CUDA_SUCCESS);
}

STANDIN_ENTRY(cuCtxPushCurrent_v2, struct standin_context *context)
{
    int status = standin_lock();
    if (status)
        return status;
    if (!exists(context) || depth == CURRENT_MAX)
        return standin_unlock(CUDA_ERROR_INVALID_CONTEXT);
    current[depth++] = context;
    return standin_unlock(CUDA_SUCCESS);
}

STANDIN_ENTRY(cuCtxPopCurrent_v2, struct standin_context **ret_context)
{
    int status = standin_lock();
    if (status)
        return status;
    if (!depth)
        return standin_unlock(CUDA_ERROR_INVALID_CONTEXT);
    depth--;
    if (ret_context)
        *ret_context = current[depth];
    return standin_unlock(CUDA_SUCCESS);
}

STANDIN_ENTRY(cuCtxGetDevice, int *ret_device)
{
    struct standin_context *context;
    int status = standin_lock_context(&context);
    if (status)
        return status;
    *ret_device = context->ordinal;
    return standin_unlock(CUDA_SUCCESS);
}

STANDIN_ENTRY(cuCtxGetDevice_v2, int *ret_device, struct standin_context *context)
{
    int status = standin_lock();
    if (status)
        return status;
    if (!exists(context))
        return standin_unlock(CUDA_ERROR_INVALID_CONTEXT);
    *ret_device = context->ordinal;
    return standin_unlock(CUDA_SUCCESS);
}

STANDIN_ENTRY(cuCtxGetFlags, unsigned *ret_flags)
{
    struct standin_context *context;
    int status = standin_lock_context(&context);
    if (status)
        return status;
    *ret_flags = context->flags;
    return standin_unlock(CUDA_SUCCESS);
}

STANDIN_ENTRY(cuCtxGetApiVersion, struct standin_context *context, unsigned *ret_version)
{
    (void)context;
    *ret_version = 3020;
    return CUDA_SUCCESS;
}

STANDIN_ENTRY(cuCtxGetId, struct standin_context *context, unsigned long long *ret_id)
{
    *ret_id = (uintptr_t)context;
    return CUDA_SUCCESS;
}

STANDIN_ENTRY(cuCtxSynchronize, void)
{
    struct standin_context *context;
    int status = standin_lock_context(&context);
    if (status)
        return status;
    standin_pools_synchronize(context->ordinal);
    return standin_unlock(CUDA_SUCCESS);
}

STANDIN_ENTRY(cuCtxSynchronize_v2, struct standin_context *context)
{
    int status = standin_lock();
    if (status)
        return status;
    if (!exists(context))
        return standin_unlock(CUDA_ERROR_INVALID_CONTEXT);
    standin_pools_synchronize(context->ordinal);
    return standin_unlock(CUDA_SUCCESS);
}

/* ---- Green contexts: here a context like any other, that does not become current --- */

STANDIN_ENTRY(cuGreenCtxCreate, struct standin_context **ret_green, void *resources, int device,
              unsigned flags)
{
    (void)resources;
    int status = standin_lock_device(device);
    if (status)
        return status;
    return standin_unlock(make(device, flags, ret_green));
}

STANDIN_ENTRY(cuCtxFromGreenCtx, struct standin_context **ret_context,
              struct standin_context *green)
{
    *ret_context = green;
    return CUDA_SUCCESS;
}

/* ---- Limits ------------------------------------------------------------------------- */

STANDIN_ENTRY(cuCtxGetLimit, size_t *ret_value, unsigned limit)
{
    struct standin_context *context;
    int status = standin_lock_context(&context);
    if (status)
        return status;
    if (limit >= STANDIN_LIMITS)
        return standin_unlock(CUDA_ERROR_INVALID_VALUE);
    *ret_value = context->limits[limit];
    return standin_unlock(CUDA_SUCCESS);
}

/* Only stacks cost something at once. */
static int grow_stacks(struct standin_context *context, uint64_t bytes)
{
    uint64_t before = context->limits[STACK_LIMIT];
    if (bytes <= before)
        return CUDA_SUCCESS;
    uint64_t more = (bytes - before) * STANDIN_PROCESSORS * STANDIN_THREADS;
    int status = standin_take(context->ordinal, more);
    if (status == CUDA_SUCCESS)
        context->taken_bytes += more;
    return status;
}

STANDIN_ENTRY(cuCtxSetLimit, unsigned limit, size_t value)
{
    struct standin_context *context;
    int status = standin_lock_context(&context);
    if (status)
        return status;
    if (limit >= STANDIN_LIMITS)
        return standin_unlock(CUDA_ERROR_INVALID_VALUE);
    if (limit == STACK_LIMIT)
        status = grow_stacks(context, value);
    if (status == CUDA_SUCCESS)
        context->limits[limit] = value;
    return standin_unlock(status);
}
