/* sandbox.h: detects that a program restricts its own system calls, so that the recorder
 * makes none (filtered.h), and that a thread can no longer read the clock.
 *
 * Every filter that was added since `memledger run` began counts, and it counts for the whole
 * process. A filter that memledger itself runs under, such as a container's, does not count, nor
 * does one that is known to leave the recorder's calls alone (filter_verdict.h). A program started
 * by `exec` finds the verdicts on its inherited filters in a table in the session page
 * (session_peek.h). Filters are detected
 * - by hooks on prctl() and syscall() (seccomp_hooks.c), before the filter is installed;
 * - from /proc/self/status when a process starts and after a fork;
 * - by the collector, which reads /proc/PID/status and sets a flag in the ring set. That
 *   covers programs that make the system call without libc, but it comes late.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SANDBOX_H
#define ML_SANDBOX_H

#include <stdbool.h>

#include "session_peek.h"

/* A value of ml_clock_mode beside those of enum ml_clock: not every thread can read the clock. */
#define ML_CLOCK_ASK 3u

/* Call once, when the library is loaded. */
void ml_sandbox_init(void);

/* Reports to the collector, and to programs that this process will start, how many of its filters
 * leave the recorder alone. For a process that has its first ring set. */
void ml_sandbox_announce(void);

enum ml_restriction {
    ML_RESTRICT_CALLS,  /* a filter for this thread and its descendants */
    ML_RESTRICT_ALL,    /* a filter for all threads at once */
    ML_RESTRICT_THREAD, /* strict mode: no calls and no clock in this thread */
    ML_RESTRICT_CLOCK,  /* the time stamp counter, which a thread's children inherit */
};

struct ml_restricting {
    enum ml_restriction what;
    const void *filter;     /* struct sock_fprog, if it is a filter */
    bool in_vfork;          /* this process uses its parent's memory, which must not be marked */
    bool marked;            /* strict mode and clock: set by this call, undone if it fails */
    struct ml_ringset *set; /* the set that was marked; NULL: none */
    struct ml_spared_entry entry;
};

/* Call around the system call that restricts: claims everything that will be needed later, while
 * that is still possible. A filter for all threads waits, a fifth of a second at most, until no
 * thread is in the middle of the recorder's calls. A filter is not read before the kernel has
 * accepted it. Several threads may be between begin and end. Both keep errno. */
void ml_restrict_begin(struct ml_restricting *r, enum ml_restriction what, const void *filter);
void ml_restrict_end(const struct ml_restricting *r, bool done);

/* Whether the session's clock can be read: in strict mode the counter raises SIGSEGV, and a
 * clock other than the counter may be a system call. */
bool ml_clock_usable(void);

#endif
