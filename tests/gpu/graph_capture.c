/* graph_capture.c: stream-ordered memory while a stream is captured, in each mode; prints the
 * driver's results.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>
#include <stdio.h>

/* The few entry points of the driver that are needed here. */
int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuStreamCreate(void **stream, unsigned flags);
int cuStreamSynchronize(void *stream);
int cuStreamBeginCapture_v2(void *stream, int mode);
int cuStreamEndCapture(void *stream, void **graph);
int cuMemAllocAsync(uint64_t *address, size_t bytes, void *stream);
int cuMemFreeAsync(uint64_t address, void *stream);

#define SAY(call) printf("%-46s %d\n", #call, call)

int main(void)
{
    void *context, *stream, *graph;
    uint64_t before, inside;

    SAY(cuInit(0));
    SAY(cuDevicePrimaryCtxRetain(&context, 0));
    SAY(cuCtxSetCurrent(context));
    SAY(cuStreamCreate(&stream, 1));
    SAY(cuMemAllocAsync(&before, 1 << 20, stream));
    for (int mode = 0; mode < 3; mode++) {
        SAY(cuStreamBeginCapture_v2(stream, mode));
        SAY(cuMemAllocAsync(&inside, 1 << 20, stream));
        SAY(cuMemFreeAsync(inside, stream));
        SAY(cuStreamEndCapture(stream, &graph));
    }
    SAY(cuMemFreeAsync(before, stream));
    SAY(cuStreamSynchronize(stream));
    return 0;
}
