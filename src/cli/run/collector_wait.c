/* collector_wait.c: the end of a run: the program has ended, the collector still writes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "collector_process.h"

#include <stdint.h>
#include <sys/wait.h>

#include "compiler.h"
#include "nanoseconds.h"
#include "proc_stat.h"
#include "say.h"
#include "text.h"

#define LOOK_MS 100
#define TELL_AFTER_NS 3000000000u
#define GRACE_NS 1000000000u
#define LIFELESS_NS 30000000000u

/* Values that change while the collector makes progress: its heartbeat, and the processor time of
 * the two threads that matter. The sampling threads continue even if these are stuck. */
static uint64_t signs_of_life(pid_t collector, const struct ml_session *page)
{
    uint64_t signs = atomic_load(&page->heartbeat) + atomic_load(&page->file_bytes);

    for (size_t i = 0; i < ML_ARRAY_SIZE(page->collector.threads); i++) {
        struct ml_proc_stat stat;

        if (ml_proc_stat_read((uint32_t)collector, atomic_load(&page->collector.threads[i]), &stat))
            signs += stat.cpu_ticks;
    }
    return signs;
}

static bool is_stopped(pid_t pid)
{
    siginfo_t info = {0};

    return !waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOHANG | WNOWAIT) && info.si_pid == pid;
}

static void tell(pid_t collector, const char *trace, const struct ml_session *page)
{
    char bytes[32];

    if (is_stopped(collector))
        ml_say("the collector (process %d) is stopped before the end of %s; 'kill "
               "-CONT %d' resumes it, Ctrl-C leaves the trace as it is",
               (int)collector, trace, (int)collector);
    else
        ml_say("still writing %s (%s so far); Ctrl-C leaves that to process %d", trace,
               ml_format_bytes(bytes, (int64_t)atomic_load(&page->file_bytes), ML_UNIT_AUTO),
               (int)collector);
}

bool ml_collector_wait(struct ml_launch *l, pid_t collector, const char *trace,
                       const struct ml_session *page, int *ret_status)
{
    uint64_t tell_ns = ml_clock_ns(CLOCK_MONOTONIC) + TELL_AFTER_NS;
    uint64_t leave_ns = UINT64_MAX;
    uint64_t signs = 0, seen_ns = 0;
    bool told = false;
    int status;

    while (ml_launch_next(l, LOOK_MS, &status) != collector) {
        uint64_t now_ns = ml_clock_ns(CLOCK_MONOTONIC);
        if (l->stops && leave_ns == UINT64_MAX)
            leave_ns = told ? now_ns : now_ns + GRACE_NS;
        if (!seen_ns || signs != signs_of_life(collector, page)) {
            signs = signs_of_life(collector, page);
            seen_ns = now_ns;
        }
        if (l->stops > 1 || now_ns >= leave_ns || now_ns - seen_ns >= LIFELESS_NS)
            return false;
        if (!told && now_ns >= tell_ns) {
            tell(collector, trace, page);
            told = true;
        }
    }
    *ret_status = status;
    return true;
}
