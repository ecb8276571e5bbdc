/* sandbox_look.c: see sandbox_look.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sandbox_look.h"

#include <errno.h>
#include <stdlib.h>

#include "filtered.h"
#include "seccomp_state.h"
#include "session_peek.h"

#define STATUS "/proc/self/status"

/* The restrictions that do not count: those that `memledger run` runs under, or that existed when
 * the recorder was loaded into this process later. Written once. */
static struct ml_seccomp_state base;
static bool base_known;
static _Atomic uint32_t looked; /* enum progress */
enum progress { NOT_LOOKED, LOOKING, LOOKED };

static _Atomic enum ml_sight sight;

_Atomic uint32_t ml_filters_spared;

/* The state that the launcher reported in the environment, for when its page cannot be read.
 * Whether a filter was added since is unknown unless filters are counted. */
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

/* The known filters that this process was started with. Two threads may come here at once; they
 * find the same. */
static bool view_filters(const char *dir, struct ml_session_view *ret)
{
    uint32_t progress = NOT_LOOKED;

    if (atomic_load_explicit(&looked, memory_order_acquire) == LOOKED) {
        *ret = (struct ml_session_view){base_known, base, ml_filters_spared, false};
        return false;
    }
    first_view(dir, ret);
    if (!atomic_compare_exchange_strong(&looked, &progress, LOOKING))
        return false;
    base = ret->base;
    base_known = ret->known;
    if (!ml_spared_is_restricted(ret->spared))
        ml_filters_spared = ret->spared;
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

/* Filters belong to threads, and the thread that started this process may have had fewer than
 * others: filters that it lacks now would excuse filters that it adds. */
static void forget_what_is_not_there(const struct ml_seccomp_state *now)
{
    uint32_t most = now->filters > base.filters ? now->filters - base.filters : 0;

    if (now->counted && ml_filters_spared > most)
        ml_filters_spared = most;
}

/* If status could be read earlier and cannot be read now, assumes a filter. */
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

/* A parent may have stopped making calls only because it had no descriptor left to look with. */
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
