/* mxnet_profiled.c: a program that uses MXNet's profiler through its C functions, without
 * memledger.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <mxnet/c_api.h>
#include <stdio.h>
#include <stdlib.h>

#define OK(call)                                                                                   \
    do {                                                                                           \
        if (call) {                                                                                \
            fprintf(stderr, "%s: %s\n", #call, MXGetLastError());                                  \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static void make_array(void)
{
    uint32_t shape[] = {16, 16};
    NDArrayHandle array;
    float sum[256];

#ifdef HAS_DTYPE_ARGUMENT
    OK(MXNDArrayCreate(shape, 2, 1, 0, 0, 0, &array));
#else
    OK(MXNDArrayCreate(shape, 2, 1, 0, 0, &array));
#endif
    OK(MXNDArraySyncCopyToCPU(array, sum, 256));
    OK(MXNDArrayFree(array));
}

static void use_durations(ProfileHandle domain)
{
    ProfileHandle task, frame, event;

    OK(MXProfileCreateTask(domain, "task", &task));
    OK(MXProfileCreateFrame(domain, "frame", &frame));
    OK(MXProfileCreateEvent("event", &event));
    for (int i = 0; i < 3; i++) {
        OK(MXProfileDurationStart(task));
        OK(MXProfileDurationStart(frame));
        OK(MXProfileDurationStart(event));
        make_array();
        OK(MXProfileDurationStop(event));
        OK(MXProfileDurationStop(frame));
        OK(MXProfileDurationStop(task));
    }
    OK(MXProfileDestroyHandle(task));
    OK(MXProfileDestroyHandle(frame));
    OK(MXProfileDestroyHandle(event));
    OK(MXProfileDestroyHandle(domain)); /* domains are not destroyed */
}

static void use_counter(ProfileHandle domain)
{
    ProfileHandle counter;

    OK(MXProfileCreateCounter(domain, "counter", &counter));
    OK(MXProfileSetCounter(counter, 5));
    OK(MXProfileAdjustCounter(counter, -2));
    OK(MXProfilePause(1));
    OK(MXProfileAdjustCounter(counter, 10));
    make_array();
    OK(MXProfilePause(0));
    OK(MXProfileAdjustCounter(counter, 1));
    OK(MXProfileDestroyHandle(counter));
    OK(MXProfileSetMarker(domain, "marker", "global"));
}

int main(void)
{
    const char *keys[] = {"profile_all", "filename"};
    const char *vals[] = {"true", "from_c.json"};
    ProfileHandle domain;

    make_array();
    OK(MXSetProfilerConfig(2, keys, vals));
    OK(MXSetProfilerState(1));
    OK(MXProfileCreateDomain("dom", &domain));
    use_durations(domain);
    use_counter(domain);
    OK(MXNDArrayWaitAll());
    OK(MXDumpProfile(1));
    OK(MXSetProfilerState(0));
    make_array();
    puts("done");
    return 0;
}
