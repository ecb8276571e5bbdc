/* empty_tick.c: the share of a core that a thread takes which wakes 1,000 times a second:
 * alone, and with one reading of a GPU's memory. The lower bound for any sampler here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <stdio.h>
#include <time.h>

#define TICKS 3000
#define TICK_NS 1000000

typedef int memory_info(void *device, void *ret);

static double seconds(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static memory_info *open_nvml(void **ret_device)
{
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    int (*init)(void) = library ? (int (*)(void))dlsym(library, "nvmlInit_v2") : NULL;
    int (*by_index)(unsigned, void **) =
        library ? (int (*)(unsigned, void **))dlsym(library, "nvmlDeviceGetHandleByIndex_v2")
                : NULL;

    if (!init || !by_index || init() || by_index(0, ret_device))
        return NULL;
    return (memory_info *)dlsym(library, "nvmlDeviceGetMemoryInfo");
}

static double share(memory_info *read, void *device)
{
    struct timespec next;
    unsigned long long memory[3];
    double cpu = seconds(CLOCK_THREAD_CPUTIME_ID), wall = seconds(CLOCK_MONOTONIC);

    clock_gettime(CLOCK_MONOTONIC, &next);
    for (int i = 0; i < TICKS; i++) {
        next.tv_nsec += TICK_NS;
        if (next.tv_nsec >= 1000000000) {
            next.tv_nsec -= 1000000000;
            next.tv_sec++;
        }
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
        if (read)
            read(device, memory);
    }
    return (seconds(CLOCK_THREAD_CPUTIME_ID) - cpu) / (seconds(CLOCK_MONOTONIC) - wall);
}

int main(void)
{
    void *device = NULL;
    memory_info *read = open_nvml(&device);

    printf("%.5f %.5f\n", share(NULL, NULL), share(read, device));
    return !read;
}
