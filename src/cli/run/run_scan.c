/* run_scan.c: see run_scan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "run_scan.h"

#include <linux/futex.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "memory_limit.h"
#include "reach.h"
#include "say.h"

#define SEARCH_NS UINT64_C(60000000000)
#define READY_MS 2000 /* that a copy gets to begin */

struct scan {
    const char *trace;
    struct ml_reach_opts opts;
};

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Pairs with the release store of `ready` in exit_copy.c. Without a pid there is no copy. */
static bool is_settled(const struct ml_session_copy *copy)
{
    return !atomic_load_explicit(&copy->pid, memory_order_relaxed) ||
           atomic_load_explicit(&copy->ready, memory_order_acquire);
}

/* A process may end before its copy runs. */
static void wait_for_copies(const struct ml_session *page)
{
    const struct timespec nap = {.tv_nsec = 1000000};
    size_t ready = 0;

    for (int ms = 0; ms < READY_MS && ready < ML_SESSION_COPIES; ms++) {
        if (ms > 0)
            nanosleep(&nap, NULL);
        for (ready = 0; ready < ML_SESSION_COPIES && is_settled(&page->copies[ready]); ready++)
            continue;
    }
}

static void search(void *arg)
{
    const struct scan *scan = arg;
    struct ml_error err = {0};

    ml_memory_limit(scan->trace, 0);
    if (ml_reach(scan->trace, &scan->opts, &err) < 0)
        ml_say("cannot tell which blocks are reachable: %s", err.text);
}

static void let_copies_end(struct ml_session *page)
{
    atomic_store(&page->copies_done, 1);
    syscall(SYS_futex, &page->copies_done, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void ml_run_scan(struct ml_launch *launch, const char *trace, struct ml_session *page,
                 uint64_t start_ns)
{
    uint32_t others = atomic_load(&page->others_exited);
    struct scan scan = {
        .trace = trace,
        .opts = {.copies = page->copies,
                 .copy_count = ML_SESSION_COPIES,
                 .start_ns = start_ns,
                 .deadline_ns = now_ns() + SEARCH_NS},
    };
    struct stat st;

    wait_for_copies(page);
    if (launch->stops == 0)
        ml_launch_aside(launch, search, &scan);
    let_copies_end(page);
    if (others >= ML_SESSION_COPIES)
        ml_say("--scan-at-exit left out %u processes: it takes the program and the first %d others",
               others - (ML_SESSION_COPIES - 1), ML_SESSION_COPIES - 1);
    if (stat(trace, &st) == 0)
        atomic_store(&page->file_bytes, (uint64_t)st.st_size);
}
