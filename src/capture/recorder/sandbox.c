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

/* The counter raises SIGSEGV in some thread; which others inherited that is not known. */
static _Atomic bool counter_off;
/* It does so in this child of vfork, or did: 0 for none. */
static __thread pid_t child_without_clock;

/* Filters that were added, beside ml_filters_spared: those that the kernel is being asked for,
 * whether some do harm, and whether some of these kill for what ML_SPARED_MAY_COUNT allows. */
static _Atomic uint32_t pending;
static _Atomic bool harmful;
static _Atomic bool may_not_count;

/* This process's entry, for a thread that may not make calls to find it. */
static _Atomic(struct ml_session_spared *) own_entry;
static _Atomic uint64_t own_process;

/* ---- Telling others ------------------------------------------------------- */

static void tell_collector(void)
{
    struct ml_ringset *set = ml_recorder_first_set();

    if (set)
        atomic_store_explicit(&set->filters_spared, ml_filters_spared, memory_order_relaxed);
}

/* What programs that this process starts shall know. Pairs with begin_filter: either it comes
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

/* Its parent's entry goes when the parent ends. */
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

/* The other threads are not in the child. */
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

/* Each process once; the collector may have counted it already. */
static void count_sandbox(void)
{
    struct ml_ringset *set = ml_recorder_first_set();

    if (set && !atomic_exchange_explicit(&set->sandboxed, 1, memory_order_relaxed))
        atomic_fetch_add_explicit(&ml_session->entered_sandbox, 1, memory_order_relaxed);
}

/* ---- Filters -------------------------------------------------------------- */

/* The collector hears of it too, and then comes by more often: this process cannot wake it. */
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

/* Another filter may come meanwhile, and kill for a call. */
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

/* Threads that were about to make one call when the mark was set have made it after the first
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

/* While calls can be made: the ring of this thread, and the entry of this process. */
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

/* A filter that leaves the recorder alone is none for it. The mark goes last: the collector
 * would otherwise find one more filter than it was told of. */
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

/* A child of vfork leaves word for the program that it is about to become, and marks nothing. */
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

/* A child of vfork has its parent's thread-local storage too, until it becomes a program. */
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

/* Where no calls are allowed a process cannot ask who it is, and has nothing to mark that its
 * parent has not. */
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

/* Asked by the child itself, or by the thread that made it. */
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
