/* sandbox.c: see sandbox.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sandbox.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "filter_verdict.h"
#include "filtered.h"
#include "recorder.h"
#include "seccomp_state.h"
#include "writer.h"

#define STATUS "/proc/self/status"
#define NAP_NS 1000000
#define PAUSES_IN_NAP 30
#define NAPS_MAX 200 /* longer than a thread sleeps that waits for the collector */

/* The counter raises SIGSEGV in some thread; which others inherited that is not known. */
static _Atomic bool counter_off;
/* It does so in this child of vfork, or did: 0 for none. */
static __thread pid_t child_without_clock;

/* What restricts the process and does not matter: what `memledger run` runs under, or what was
 * there when the recorder was loaded into this process later. Written once. */
static struct ml_seccomp_state base;
static bool base_known;
static _Atomic uint32_t looked; /* enum progress */
enum progress { NOT_LOOKED, LOOKING, LOOKED };

static _Atomic enum ml_sight sight;

/* Filters that were added: those that leave the recorder alone, those that the kernel is being
 * asked for, whether there are others, and whether some of these kill for ML_SPARED_MAY_COUNT. */
static _Atomic uint32_t spared;
static _Atomic uint32_t pending;
static _Atomic bool harmful;
static _Atomic bool may_not_count;

/* This process's entry, for a thread that may not make calls to find it. */
static _Atomic(struct ml_session_spared *) own_entry;
static _Atomic uint64_t own_process;

/* ---- Looking ------------------------------------------------------------- */

/* What the launcher said where its page cannot be read: whether a filter was added since is
 * not known unless they are counted. */
static void view_from_outside(struct ml_session_view *ret)
{
    const char *text = getenv(ML_SECCOMP_ENV);

    *ret = (struct ml_session_view){.known = true, .has_gaps = true};
    if (text)
        ml_seccomp_parse(text, &ret->base);
}

static void first_view(const char *dir, struct ml_session_view *ret)
{
    if (!dir) {
        *ret = (struct ml_session_view){0};
        ret->known = ml_seccomp_read(STATUS, &ret->base);
    } else if (!ml_session_peek(dir, ret)) {
        view_from_outside(ret);
    }
}

/* What is known of the filters that this process was started with. Two threads may come here
 * at once, and find the same. */
static bool view_filters(const char *dir, struct ml_session_view *ret)
{
    uint32_t progress = NOT_LOOKED;

    if (atomic_load_explicit(&looked, memory_order_acquire) == LOOKED) {
        *ret = (struct ml_session_view){base_known, base, spared, false};
        return false;
    }
    first_view(dir, ret);
    if (!atomic_compare_exchange_strong(&looked, &progress, LOOKING))
        return false;
    base = ret->base;
    base_known = ret->known;
    if (!ml_spared_is_restricted(ret->spared))
        spared = ret->spared;
    /* Pairs with the acquire load above. */
    atomic_store_explicit(&looked, LOOKED, memory_order_release);
    return true;
}

static enum ml_sight sight_after(int error)
{
    if (error == ENOENT)
        return ML_SIGHT_NO_PROC;
    return error == EMFILE || error == ENFILE ? ML_SIGHT_NO_DESCRIPTORS : ML_SIGHT_CLEAR;
}

static bool may_kill(const struct ml_session_view *view, const struct ml_seccomp_state *now)
{
    bool restricted = ml_spared_is_restricted(view->spared) || (view->has_gaps && !now->counted);

    return ml_seccomp_may_kill(now, view->base, restricted ? 0 : view->spared, restricted);
}

/* Filters belong to threads, and this process comes from one that may have had fewer than
 * others: what it lacks now would excuse what it adds. */
static void forget_what_is_not_there(const struct ml_seccomp_state *now)
{
    uint32_t most = now->filters > base.filters ? now->filters - base.filters : 0;

    if (now->counted && spared > most)
        spared = most;
}

/* Where status cannot be read now but could be then, caution wins. */
static bool look(void)
{
    const char *dir = getenv(ML_SESSION_ENV);
    struct ml_session_view view;
    struct ml_seccomp_state now;
    bool first = view_filters(dir, &view);

    if (!view.known)
        return !ml_spared_is_restricted(view.spared);
    if (!ml_seccomp_read(STATUS, &now)) {
        sight = sight_after(errno);
        return false;
    }
    sight = ML_SIGHT_CLEAR;
    if (!may_kill(&view, &now)) {
        forget_what_is_not_there(&now);
        return true;
    }
    if (first && dir && view.spared == ML_SPARED_MAY_COUNT)
        ml_session_count_sandboxed(dir);
    return false;
}

/* A parent that had no descriptor left to look with stopped making calls for that alone. */
void ml_sandbox_look(void)
{
    enum ml_sight blind = ML_SIGHT_NO_DESCRIPTORS;
    int saved_errno = errno;

    if (atomic_compare_exchange_strong(&sight, &blind, ML_SIGHT_CLEAR))
        atomic_fetch_sub_explicit(&ml_filtered, 1, memory_order_seq_cst);
    if (ml_calls_allowed() && !look())
        atomic_fetch_add_explicit(&ml_filtered, 1, memory_order_seq_cst);
    errno = saved_errno;
}

enum ml_sight ml_sandbox_sight(void)
{
    return sight;
}

void ml_sandbox_look_first(void)
{
    if (atomic_load_explicit(&looked, memory_order_relaxed) == NOT_LOOKED)
        ml_sandbox_look();
}

/* ---- Telling others ------------------------------------------------------- */

static void tell_collector(void)
{
    struct ml_ringset *set = ml_recorder_first_set();

    if (set)
        atomic_store_explicit(&set->filters_spared, spared, memory_order_relaxed);
}

/* What programs that this process starts shall know. Pairs with begin_filter: either it comes
 * after this and says restricted, or this sees that it began. */
static void update_entry(const struct ml_spared_entry *entry)
{
    uint32_t state = !harmful ? spared : may_not_count ? ML_SPARED_RESTRICTED : ML_SPARED_MAY_COUNT;

    ml_session_set_spared(entry, state);
    if (pending)
        ml_session_set_spared(entry, ML_SPARED_RESTRICTED);
}

/* Its parent's entry goes when the parent ends. */
static void make_entry_if_spared(void)
{
    struct ml_spared_entry entry;

    if (!spared || !ml_calls_begin())
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

/* The collector hears of it too, and then comes by more often: nobody can wake it. */
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
        spared++;
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
        ml_session_set_spared(&r->entry, spared);
    else if (ml_filter_spares_recorder(r->filter))
        ml_session_set_spared(&r->entry, spared + 1);
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
