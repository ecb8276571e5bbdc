/* sandbox.c: see sandbox.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sandbox.h"

#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "filter_verdict.h"
#include "filtered.h"
#include "recorder.h"
#include "sandbox_look.h"
#include "writer.h"

#define NAP_NS 1000000
#define PAUSES_IN_NAP 30
#define NAPS_MAX 200 /* longer than a thread sleeps that waits for the collector */

/* The time stamp counter raises SIGSEGV in some thread; we do not know which threads inherited
 * that. */
static _Atomic bool counter_off;
/* The pid of a child of vfork in which it does; 0: none. */
static __thread pid_t child_without_clock;

/* The filters that were added, beside ml_filters_spared: how many are being installed, whether some
 * do harm, and whether some of these kill for a call that ML_SPARED_MAY_COUNT allows. */
static _Atomic uint32_t pending;
static _Atomic bool harmful;
static _Atomic bool may_not_count;

/* This process's entry in the session page, for a thread that may not make the calls to find it. */
static _Atomic(struct ml_session_spared *) own_entry;
static _Atomic uint64_t own_process;

/* ---- Telling others ------------------------------------------------------- */

static void tell_collector(void)
{
    struct ml_ringset *set = ml_recorder_first_set();

    if (set)
        atomic_store_explicit(&set->filters_spared, ml_filters_spared, memory_order_relaxed);
}

/* Leaves the state for programs that this process starts. Pairs with begin_filter: either it comes
 * after this and says restricted, or this sees that it began. */
static void update_entry(const struct ml_spared_entry *entry)
{
    uint32_t state = !harmful        ? ml_filters_spared
                     : may_not_count ? ML_SPARED_RESTRICTED
                                     : ML_SPARED_MAY_COUNT;

    ml_session_set_spared(entry, state);
    if (pending)
        ml_session_set_spared(entry, ML_SPARED_RESTRICTED);
}

/* The parent's entry disappears when the parent ends. */
static void make_entry_if_spared(void)
{
    struct ml_spared_entry entry;

    if (!ml_filters_spared || !ml_calls_begin())
        return;
    entry = ml_session_own_entry();
    ml_calls_end();
    update_entry(&entry);
}

void ml_sandbox_announce(void)
{
    tell_collector();
    make_entry_if_spared();
}

/* The child does not have the other threads. */
static void after_fork(void)
{
    int saved_errno = errno;

    ml_threads_calling = ml_calling_depth > 0;
    make_entry_if_spared();
    errno = saved_errno;
}

void ml_sandbox_init(void)
{
    pthread_atfork(NULL, NULL, after_fork);
}

/* Once per process; the collector may have counted it already. */
static void count_sandbox(void)
{
    struct ml_ringset *set = ml_recorder_first_set();

    if (set && !atomic_exchange_explicit(&set->sandboxed, 1, memory_order_relaxed))
        atomic_fetch_add_explicit(&ml_session->entered_sandbox, 1, memory_order_relaxed);
}

/* ---- Filters -------------------------------------------------------------- */

/* The collector sees the mark too and then drains more often, because this process cannot wake it.
 */
static void mark(struct ml_restricting *r)
{
    r->set = ml_recorder_first_set();
    atomic_fetch_add_explicit(&ml_filtered, 1, memory_order_seq_cst);
    if (r->set)
        atomic_fetch_add_explicit(&r->set->filtered, 1, memory_order_relaxed);
}

static void unmark(const struct ml_restricting *r)
{
    if (r->set)
        atomic_fetch_sub_explicit(&r->set->filtered, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&ml_filtered, 1, memory_order_seq_cst);
}

/* Another filter may be installed meanwhile and kill for a call. */
static void nap(void)
{
    if (ml_filtered > 1) {
        for (int i = 0; i < PAUSES_IN_NAP; i++)
            ml_pause();
        return;
    }
    ml_recorder_wake_threads();
    syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = NAP_NS}, NULL);
}

/* A thread that was about to make a single call when the mark was set has made it after the first
 * nap. Pairs with ml_calls_begin. */
static void let_others_finish(void)
{
    int32_t own = ml_calling_depth > 0;

    for (int i = 0; i < NAPS_MAX; i++) {
        nap();
        if (atomic_load_explicit(&ml_threads_calling, memory_order_seq_cst) <= own)
            return;
    }
}

/* While calls are allowed: claims this thread's ring and this process's entry. */
static bool prepare(struct ml_restricting *r)
{
    bool allowed;

    ml_recorder_start();
    allowed = ml_calls_begin();
    if (allowed) {
        ml_writer_prepare();
        r->entry = ml_session_own_entry();
        own_process = r->entry.process;
        own_entry = r->entry.at;
        ml_calls_end();
    } else {
        r->entry = (struct ml_spared_entry){own_entry, own_process};
    }
    return allowed;
}

static void begin_filter(struct ml_restricting *r)
{
    bool allowed = prepare(r);

    atomic_fetch_add_explicit(&pending, 1, memory_order_seq_cst);
    ml_session_set_spared(&r->entry, ML_SPARED_RESTRICTED);
    mark(r);
    if (allowed && r->what == ML_RESTRICT_ALL)
        let_others_finish();
}

/* A filter that leaves the recorder alone does not count. The mark is removed last: otherwise the
 * collector would find one more filter than it was told about. */
static void end_filter(const struct ml_restricting *r, bool done)
{
    bool harmless = !done || ml_filter_spares_recorder(r->filter);

    if (done && harmless) {
        ml_filters_spared++;
        tell_collector();
    }
    if (!harmless) {
        if (!ml_filter_lets_count(r->filter))
            may_not_count = true;
        harmful = true;
        count_sandbox();
    }
    if (atomic_fetch_sub_explicit(&pending, 1, memory_order_seq_cst) == 1)
        update_entry(&r->entry);
    if (harmless)
        unmark(r);
}

/* A child of vfork leaves the state for the program that it is about to execute, and marks nothing.
 */
static void begin_filter_in_vfork(struct ml_restricting *r)
{
    r->entry = ml_session_own_entry();
    ml_session_set_spared(&r->entry, ML_SPARED_RESTRICTED);
}

static void end_filter_in_vfork(const struct ml_restricting *r, bool done)
{
    if (!done)
        ml_session_set_spared(&r->entry, ml_filters_spared);
    else if (ml_filter_spares_recorder(r->filter))
        ml_session_set_spared(&r->entry, ml_filters_spared + 1);
    else if (ml_filter_lets_count(r->filter))
        ml_session_set_spared(&r->entry, ML_SPARED_MAY_COUNT);
}

/* ---- Other restrictions --------------------------------------------------- */

static void ask_for_clock(void)
{
    atomic_store_explicit(&ml_clock_mode, ML_CLOCK_ASK, memory_order_relaxed);
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

/* A child of vfork also shares its parent's thread-local storage, until it executes a program. */
static void restrict_clock_in_vfork(void)
{
    child_without_clock = getpid();
    ask_for_clock();
}

static bool restrict_clock(void)
{
    ml_recorder_start();
    ask_for_clock();
    return !atomic_exchange_explicit(&counter_off, true, memory_order_relaxed);
}

/* ---- All of them ---------------------------------------------------------- */

static bool is_filter(const struct ml_restricting *r)
{
    return r->what == ML_RESTRICT_CALLS || r->what == ML_RESTRICT_ALL;
}

/* When no calls are allowed, a process cannot ask for its pid, and has nothing to mark that its
 * parent has not marked. */
static bool is_in_vfork(void)
{
    return ml_calls_allowed() && ml_recorder_is_anothers();
}

void ml_restrict_begin(struct ml_restricting *r, enum ml_restriction what, const void *filter)
{
    int saved_errno = errno;

    *r = (struct ml_restricting){.what = what, .filter = filter, .in_vfork = is_in_vfork()};
    if (is_filter(r) && r->in_vfork)
        begin_filter_in_vfork(r);
    else if (is_filter(r))
        begin_filter(r);
    else if (r->in_vfork)
        restrict_clock_in_vfork();
    else
        r->marked = what == ML_RESTRICT_THREAD ? restrict_thread() : restrict_clock();
    errno = saved_errno;
}

static void end_other(const struct ml_restricting *r, bool done)
{
    if (done && r->what == ML_RESTRICT_THREAD)
        count_sandbox();
    if (done || !r->marked)
        return;
    if (r->what == ML_RESTRICT_THREAD)
        ml_thread_strict = false;
    else
        atomic_store_explicit(&counter_off, false, memory_order_relaxed);
}

void ml_restrict_end(const struct ml_restricting *r, bool done)
{
    int saved_errno = errno;

    if (is_filter(r) && r->in_vfork)
        end_filter_in_vfork(r, done);
    else if (is_filter(r))
        end_filter(r, done);
    else if (!r->in_vfork)
        end_other(r, done);
    errno = saved_errno;
}

/* ---- Without system calls ------------------------------------------------ */

/* Called by the child itself, or by the thread that created it. */
static bool is_child_without_clock(void)
{
    bool is = !ml_calls_allowed() || child_without_clock == getpid();

    if (!is)
        child_without_clock = 0;
    return is;
}

bool ml_clock_usable(void)
{
    if (child_without_clock && is_child_without_clock())
        return false;
    if (ml_thread_strict || atomic_load_explicit(&counter_off, memory_order_relaxed))
        return false;
    return ml_recorder_clock() == ML_CLOCK_TSC || ml_calls_allowed();
}
