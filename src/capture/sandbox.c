/* sandbox.c: see sandbox.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sandbox.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "filter_verdict.h"
#include "filtered.h"
#include "recorder.h"
#include "seccomp_state.h"
#include "session_peek.h"
#include "writer.h"

#define STATUS "/proc/self/status"
#define OTHERS_NS 1000000

/* The counter raises SIGSEGV in some thread; which others inherited that is not known. */
static _Atomic bool counter_off;

/* What restricts the process and does not matter: what `memledger run` runs under, or what was
 * there when the recorder was loaded into this process later; and filters that leave the
 * recorder alone. */
static struct ml_seccomp_state before;
static bool before_known;
static _Atomic bool looked;
static _Atomic uint32_t spared; /* filters added that leave the recorder alone */
static _Atomic bool no_proc;    /* there is nothing that could tell */

/* ---- Looking ------------------------------------------------------------- */

/* Where status cannot be read now but could be then, caution wins. */
void ml_sandbox_look(void)
{
    int saved_errno = errno;
    struct ml_seccomp_state now;
    const char *dir = getenv(ML_SESSION_ENV);
    uint32_t inherited = 0;
    bool known, first;

    if (!ml_calls_allowed())
        return;
    first = !atomic_exchange_explicit(&looked, true, memory_order_relaxed);
    if (first) {
        before_known = dir ? ml_session_harmless_filters(dir, &before, &inherited)
                           : ml_seccomp_read(STATUS, &before);
        spared = inherited;
    }
    if (before_known) {
        known = ml_seccomp_read(STATUS, &now);
        no_proc = !known && errno == ENOENT;
        if (!known || ml_seccomp_is_more(&now, &before))
            atomic_store_explicit(&ml_filtered, 1, memory_order_relaxed);
        if (first && dir && !ml_calls_allowed())
            ml_session_count_sandboxed(dir);
    }
    errno = saved_errno;
}

bool ml_sandbox_lacks_proc(void)
{
    return no_proc;
}

void ml_sandbox_look_first(void)
{
    if (!atomic_load_explicit(&looked, memory_order_relaxed))
        ml_sandbox_look();
}

/* ---- Restrictions -------------------------------------------------------- */

/* The collector hears of it too, and then comes by more often: nobody can wake it. */
static void mark_filtered(bool filtered)
{
    struct ml_ringset *set = ml_recorder_first_set();

    atomic_store_explicit(&ml_filtered, filtered, memory_order_relaxed);
    if (set)
        atomic_store_explicit(&set->filtered, filtered, memory_order_relaxed);
}

/* Each process once; the collector may have counted it already. */
static void count_sandbox(void)
{
    struct ml_ringset *set = ml_recorder_first_set();

    if (set && !atomic_exchange_explicit(&set->sandboxed, 1, memory_order_relaxed))
        atomic_fetch_add_explicit(&ml_session->entered_sandbox, 1, memory_order_relaxed);
}

static void ask_for_clock(void)
{
    atomic_store_explicit(&ml_clock_mode, ML_CLOCK_ASK, memory_order_relaxed);
}

/* A child of vfork shares its parent's memory, which must not be marked for it. */
static bool restrict_calls(void)
{
    if (!ml_calls_allowed())
        return false;
    ml_recorder_start();
    if (ml_recorder_is_anothers() || !ml_calls_allowed())
        return false;
    ml_writer_prepare();
    ml_session_tell_spared(spared);
    mark_filtered(true);
    return true;
}

/* Threads that were about to make a call when the mark was set have made it by then. */
static void let_others_finish(void)
{
    syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = OTHERS_NS}, NULL);
}

static bool restrict_thread(void)
{
    if (ml_thread_strict)
        return false;
    ml_recorder_start();
    ask_for_clock();
    ml_thread_strict = true;
    return true;
}

static bool restrict_clock(void)
{
    ml_recorder_start();
    ask_for_clock();
    return !atomic_exchange_explicit(&counter_off, true, memory_order_relaxed);
}

/* A filter that leaves the recorder alone is none for it. The mark goes last: the collector
 * would otherwise find one more filter than it was told of. */
static void spare(void)
{
    ml_seccomp_add(&before, 1);
    spared++;
    ml_sandbox_tell_collector();
    ml_session_tell_spared(spared);
    mark_filtered(false);
}

void ml_sandbox_tell_collector(void)
{
    struct ml_ringset *set = ml_recorder_first_set();

    if (set)
        atomic_store_explicit(&set->filters_spared, spared, memory_order_relaxed);
}

void ml_restrict_begin(struct ml_restricting *r, enum ml_restriction what, const void *filter)
{
    int saved_errno = errno;

    r->what = what;
    r->filter = filter;
    switch (what) {
    case ML_RESTRICT_CALLS: r->marked = restrict_calls(); break;
    case ML_RESTRICT_ALL:
        r->marked = restrict_calls();
        if (r->marked)
            let_others_finish();
        break;
    case ML_RESTRICT_THREAD: r->marked = restrict_thread(); break;
    case ML_RESTRICT_CLOCK: r->marked = restrict_clock(); break;
    }
    errno = saved_errno;
}

void ml_restrict_end(const struct ml_restricting *r, bool done)
{
    int saved_errno = errno;

    bool filter = r->what == ML_RESTRICT_CALLS || r->what == ML_RESTRICT_ALL;

    if (done && filter && r->marked && ml_filter_spares_recorder(r->filter))
        spare();
    else if (done && r->what != ML_RESTRICT_CLOCK)
        count_sandbox();
    errno = saved_errno;
    if (done || !r->marked)
        return;
    switch (r->what) {
    case ML_RESTRICT_CALLS:
    case ML_RESTRICT_ALL: mark_filtered(false); break;
    case ML_RESTRICT_THREAD: ml_thread_strict = false; break;
    case ML_RESTRICT_CLOCK: atomic_store_explicit(&counter_off, false, memory_order_relaxed); break;
    }
}

/* ---- Without system calls ------------------------------------------------ */

bool ml_clock_usable(void)
{
    if (ml_thread_strict || atomic_load_explicit(&counter_off, memory_order_relaxed))
        return false;
    return ml_recorder_clock() == ML_CLOCK_TSC || ml_calls_allowed();
}
