/* cuda_steps_other.c: the steps around memory: contexts, streams, graphs, code.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda_steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void made(struct step *step, void *handle)
{
    step->makes = true;
    step->made = (struct step_object){.address = (uintptr_t)handle, .handle = handle};
}

/* ---- init retain[:DEVICE] release[:DEVICE] reset[:DEVICE] context[:DEVICE] context-end:ID
 * ---- current[:ID] limit:WHICH:VALUE info ------------------------------------------------ */

static int init(struct step *step)
{
    (void)step;
    return cuda.cuInit(0);
}

/* The primary context becomes current. */
static int retain(struct step *step)
{
    void *context = NULL;
    int result = cuda.cuDevicePrimaryCtxRetain(&context, (int)step->args[0]);
    made(step, context);
    return result ? result : cuda.cuCtxSetCurrent(context);
}

static int release(struct step *step)
{
    return cuda.cuDevicePrimaryCtxRelease((int)step->args[0]);
}

static int reset(struct step *step)
{
    return cuda.cuDevicePrimaryCtxReset((int)step->args[0]);
}

static int context(struct step *step)
{
    void *handle = NULL;
    int result = cuda.cuCtxCreate(&handle, 0, (int)step->args[0]);
    made(step, handle);
    return result;
}

static int context_end(struct step *step)
{
    return cuda.cuCtxDestroy(step_handle(step, 0));
}

static int current(struct step *step)
{
    return cuda.cuCtxSetCurrent(step_handle(step, 0));
}

static int limit(struct step *step)
{
    return cuda.cuCtxSetLimit((int)step->args[0], step->args[1]);
}

/* Makes an object of what is free, for the sake of its line. */
static int info(struct step *step)
{
    size_t left = 0, total = 0;
    int result = cuda.cuMemGetInfo(&left, &total);
    made(step, NULL);
    step->made.bytes = left;
    return result;
}

/* ---- stream stream-end:ID sync[:ID] sync-all capture:ID capture-end:ID
 * ------------------------------------------------- */

static int stream(struct step *step)
{
    void *handle = NULL;
    int result = cuda.cuStreamCreate(&handle, 0);
    made(step, handle);
    return result;
}

static int stream_end(struct step *step)
{
    return cuda.cuStreamDestroy(step_handle(step, 0));
}

static int sync_stream(struct step *step)
{
    return cuda.cuStreamSynchronize(step_handle(step, 0));
}

static int capture(struct step *step)
{
    return cuda.cuStreamBeginCapture(step_handle(step, 0), 0);
}

/* Makes a graph, to be launched and ended as the others. */
static int capture_end(struct step *step)
{
    void *handle = NULL, *exec = NULL;
    int result = cuda.cuStreamEndCapture(step_handle(step, 0), &handle);
    if (result == 0)
        result = cuda.cuGraphInstantiateWithFlags(&exec, handle, 0);
    made(step, exec);
    step->made.second = handle;
    return result;
}

static int sync_all(struct step *step)
{
    (void)step;
    return cuda.cuCtxSynchronize();
}

/* ---- fill:ID copy:ID prefetch:ID[:DEVICE] (to the device, all of it)
 * ------------------------------------------------
 */

static int fill(struct step *step)
{
    const struct step_object *block = step_object(step->args[0]);
    return cuda.cuMemsetD8(block->address, 1, block->bytes);
}

static int copy(struct step *step)
{
    const struct step_object *block = step_object(step->args[0]);
    void *bytes = calloc(1, block->bytes);
    int result = cuda.cuMemcpyHtoD(block->address, bytes, block->bytes);
    free(bytes);
    return result;
}

static int prefetch(struct step *step)
{
    const struct step_object *block = step_object(step->args[0]);
    return cuda.cuMemPrefetchAsync(block->address, block->bytes, (int)step->args[1], NULL);
}

/* ---- graph:BYTES graph-launch:ID[:STREAM] graph-end:ID graph-trim[:DEVICE]
 * ---- (one memory node; free:ID frees what it allocated) -----------------------------------------
 */

static int graph(struct step *step)
{
    void *node = NULL, *handle = NULL, *exec = NULL;
    struct cuda_alloc_node params = {.properties = {.type = 1, .place = {1, 0}},
                                     .bytes = step->args[0]};
    cuda.cuCtxGetDevice(&params.properties.place.number);
    int result = cuda.cuGraphCreate(&handle, 0);
    if (result == 0)
        result = cuda.cuGraphAddMemAllocNode(&node, handle, NULL, 0, &params);
    if (result == 0)
        result = cuda.cuGraphInstantiateWithFlags(&exec, handle, 0);
    step->makes = true;
    step->made = (struct step_object){
        .address = params.address, .bytes = step->args[0], .handle = exec, .second = handle};
    return result;
}

static int graph_launch(struct step *step)
{
    return cuda.cuGraphLaunch(step_handle(step, 0), step_handle(step, 1));
}

static int graph_end(struct step *step)
{
    const struct step_object *object = step_object(step->args[0]);
    int result = cuda.cuGraphExecDestroy(object->handle);
    return result ? result : cuda.cuGraphDestroy(object->second);
}

static int graph_trim(struct step *step)
{
    return cuda.cuDeviceGraphMemTrim((int)step->args[0]);
}

/* ---- module:BYTES module-end:ID library:BYTES library-end:ID launch:ID
 * ---------------------------- */

/* An image for the stand-in: it costs that many bytes. */
static const char *image(const struct step *step)
{
    static char text[64];
    snprintf(text, sizeof text, "STANDIN %llu kernel", (unsigned long long)step->args[0]);
    return text;
}

static int module(struct step *step)
{
    void *handle = NULL, *function = NULL;
    int result = cuda.cuModuleLoadData(&handle, image(step));
    if (result == 0)
        result = cuda.cuModuleGetFunction(&function, handle, "kernel");
    made(step, handle);
    step->made.second = function;
    return result;
}

static int module_end(struct step *step)
{
    return cuda.cuModuleUnload(step_handle(step, 0));
}

static int library(struct step *step)
{
    void *handle = NULL, *kernel = NULL;
    int result = cuda.cuLibraryLoadData(&handle, image(step), NULL, NULL, 0, NULL, NULL, 0);
    if (result == 0)
        result = cuda.cuLibraryGetKernel(&kernel, handle, "kernel");
    made(step, handle);
    step->made.second = kernel;
    return result;
}

static int library_end(struct step *step)
{
    return cuda.cuLibraryUnload(step_handle(step, 0));
}

static int launch(struct step *step)
{
    void *function = step_object(step->args[0])->second;
    return cuda.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
}

const struct step_verb other_verbs[] = {
    {"init", init},
    {"retain", retain},
    {"release", release},
    {"reset", reset},
    {"context", context},
    {"context-end", context_end},
    {"current", current},
    {"limit", limit},
    {"info", info},
    {"stream", stream},
    {"stream-end", stream_end},
    {"sync", sync_stream},
    {"sync-all", sync_all},
    {"capture", capture},
    {"capture-end", capture_end},
    {"fill", fill},
    {"copy", copy},
    {"prefetch", prefetch},
    {"graph", graph},
    {"graph-launch", graph_launch},
    {"graph-end", graph_end},
    {"graph-trim", graph_trim},
    {"module", module},
    {"module-end", module_end},
    {"library", library},
    {"library-end", library_end},
    {"launch", launch},
    {NULL, NULL},
};
