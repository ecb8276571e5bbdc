/* standin_streams.c: streams and events. All work is done when the call returns,
 * so there is nothing to wait for; a synchronisation lets pools shrink.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "standin_driver.h"

#include <stdlib.h>

#define LAST_DEFAULT_STREAM 2 /* 0, 1 and 2 are names, not pointers */

struct standin_stream {
    struct standin_context *context;
    int ordinal;
    unsigned flags;
    int priority;
    struct standin_graph *capture; /* NULL: works at once */
};

static bool is_default(const struct standin_stream *stream)
{
    return (uintptr_t)stream <= LAST_DEFAULT_STREAM;
}

struct standin_graph *standin_stream_capture(struct standin_stream *stream)
{
    return is_default(stream) ? NULL : stream->capture;
}

static int create(struct standin_stream **ret_stream, struct standin_context *context,
                  unsigned flags, int priority)
{
    struct standin_stream *stream = calloc(1, sizeof *stream);
    if (!stream)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *stream = (struct standin_stream){
        .context = context,
        .ordinal = context->ordinal,
        .flags = flags,
        .priority = priority,
    };
    *ret_stream = stream;
    return CUDA_SUCCESS;
}

STANDIN_ENTRY(cuStreamCreateWithPriority, struct standin_stream **ret_stream, unsigned flags,
              int priority)
{
    struct standin_context *context;
    int status = standin_lock_context(&context);
    if (status)
        return status;
    return standin_unlock(create(ret_stream, context, flags, priority));
}

STANDIN_ENTRY(cuStreamCreate, struct standin_stream **ret_stream, unsigned flags)
{
    return cuStreamCreateWithPriority(ret_stream, flags, 0);
}

STANDIN_ENTRY(cuGreenCtxStreamCreate, struct standin_stream **ret_stream,
              struct standin_context *green, unsigned flags, int priority)
{
    int status = standin_lock();
    if (status)
        return status;
    return standin_unlock(create(ret_stream, green, flags, priority));
}

STANDIN_ENTRY(cuStreamDestroy_v2, struct standin_stream *stream)
{
    int status = standin_lock();
    if (status)
        return status;
    if (is_default(stream))
        return standin_unlock(CUDA_ERROR_INVALID_HANDLE);
    free(stream);
    return standin_unlock(CUDA_SUCCESS);
}

STANDIN_ENTRY(cuStreamSynchronize, struct standin_stream *stream)
{
    struct standin_context *context;
    int status = standin_lock_context(&context);
    if (status)
        return status;
    standin_pools_synchronize(is_default(stream) ? context->ordinal : stream->ordinal);
    return standin_unlock(CUDA_SUCCESS);
}

/* ---- What a stream is ------------------------------------------------------------ */

STANDIN_ENTRY(cuStreamGetCtx, struct standin_stream *stream, struct standin_context **ret_context)
{
    struct standin_context *context;
    int status = standin_lock_context(&context);
    if (status)
        return status;
    *ret_context = is_default(stream) ? context : stream->context;
    return standin_unlock(CUDA_SUCCESS);
}

STANDIN_ENTRY(cuStreamGetDevice, struct standin_stream *stream, int *ret_device)
{
    struct standin_context *context;
    int status = standin_lock_context(&context);
    if (status)
        return status;
    *ret_device = is_default(stream) ? context->ordinal : stream->ordinal;
    return standin_unlock(CUDA_SUCCESS);
}

STANDIN_ENTRY(cuStreamGetFlags, struct standin_stream *stream, unsigned *ret_flags)
{
    *ret_flags = is_default(stream) ? 0 : stream->flags;
    return CUDA_SUCCESS;
}

STANDIN_ENTRY(cuStreamGetPriority, struct standin_stream *stream, int *ret_priority)
{
    *ret_priority = is_default(stream) ? 0 : stream->priority;
    return CUDA_SUCCESS;
}

STANDIN_ENTRY(cuStreamGetId, struct standin_stream *stream, unsigned long long *ret_id)
{
    *ret_id = (uintptr_t)stream;
    return CUDA_SUCCESS;
}

/* ---- Capture ------------------------------------------------------------------------ */

#define CAPTURE_RELAXED 2

static unsigned captures;        /* under way */
static bool captures_broken;     /* all of them, by an unsafe call */
static __thread int thread_mode; /* 0: what is unsafe while anybody captures */

STANDIN_ENTRY(cuThreadExchangeStreamCaptureMode, int *mode)
{
    int before = thread_mode;
    thread_mode = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}

int standin_unsafe_call(void)
{
    if (!captures || thread_mode == CAPTURE_RELAXED)
        return CUDA_SUCCESS;
    captures_broken = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

STANDIN_ENTRY(cuStreamBeginCapture_v2, struct standin_stream *stream, int mode)
{
    (void)mode;
    int status = standin_lock();
    if (status)
        return status;
    if (is_default(stream) || stream->capture)
        return standin_unlock(CUDA_ERROR_INVALID_VALUE);
    stream->capture = standin_graph_new();
    captures++;
    return standin_unlock(CUDA_SUCCESS);
}

STANDIN_ENTRY(cuStreamBeginCaptureToGraph, struct standin_stream *stream,
              struct standin_graph *graph)
{
    int status = standin_lock();
    if (status)
        return status;
    if (is_default(stream) || stream->capture)
        return standin_unlock(CUDA_ERROR_INVALID_VALUE);
    stream->capture = graph;
    captures++;
    return standin_unlock(CUDA_SUCCESS);
}

STANDIN_ENTRY(cuStreamEndCapture, struct standin_stream *stream, struct standin_graph **ret_graph)
{
    int status = standin_lock();
    if (status)
        return status;
    if (!standin_stream_capture(stream))
        return standin_unlock(CUDA_ERROR_INVALID_VALUE);
    *ret_graph = stream->capture;
    stream->capture = NULL;
    captures--;
    if (captures_broken) {
        captures_broken = captures > 0;
        return standin_unlock(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    }
    return standin_unlock(CUDA_SUCCESS);
}

STANDIN_ENTRY(cuStreamIsCapturing, struct standin_stream *stream, int *ret_capturing)
{
    int status = standin_lock();
    if (status)
        return status;
    *ret_capturing = standin_stream_capture(stream) != NULL;
    return standin_unlock(CUDA_SUCCESS);
}

/* ---- Events --------------------------------------------------------------------------- */

struct event {
    int ordinal;
};

STANDIN_ENTRY(cuEventCreate, struct event **ret_event, unsigned flags)
{
    struct standin_context *context;
    (void)flags;
    int status = standin_lock_context(&context);
    if (status)
        return status;
    *ret_event = calloc(1, sizeof **ret_event);
    if (*ret_event)
        (*ret_event)->ordinal = context->ordinal;
    return standin_unlock(*ret_event ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

STANDIN_ENTRY(cuEventDestroy_v2, struct event *event)
{
    free(event);
    return CUDA_SUCCESS;
}

STANDIN_ENTRY(cuEventSynchronize, const struct event *event)
{
    int status = standin_lock();
    if (status)
        return status;
    standin_pools_synchronize(event->ordinal);
    return standin_unlock(CUDA_SUCCESS);
}

STANDIN_ENTRY(cuEventElapsedTime_v2, float *ret_ms, const struct event *from,
              const struct event *to)
{
    (void)from;
    (void)to;
    *ret_ms = 0.5F;
    return CUDA_SUCCESS;
}
