/* sandboxed.c: see sandboxed.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sandboxed.h"

#include <stdio.h>

#include "seccomp_state.h"

bool ml_target_in_sandbox(const struct ml_target *t)
{
    return t->sets.len &&
           atomic_load_explicit(&t->sets.items[0].shared->filtered, memory_order_relaxed);
}

uint64_t ml_target_words_read(const struct ml_target *t)
{
    uint64_t words = 0;

    for (size_t k = 0; k < t->sets.len; k++) {
        for (uint32_t r = 0; r < t->sets.items[k].used; r++)
            words += t->sets.items[k].sources[r].tail;
    }
    return words;
}

/* Strict mode restricts one thread, which can no longer read the clock; nothing helps it. */
static bool is_filtered(const struct ml_target *t, const struct ml_session *page)
{
    struct ml_seccomp_state before = {page->seccomp_mode, page->seccomp_filters,
                                      page->seccomp_counted};
    struct ml_seccomp_state now;
    char path[64];

    ml_seccomp_add(&before, atomic_load_explicit(&t->sets.items[0].shared->filters_spared,
                                                 memory_order_relaxed));
    snprintf(path, sizeof(path), "/proc/%u/status", t->pid);
    return page->seccomp_known && ml_seccomp_read(path, &now) && now.mode != 1 &&
           ml_seccomp_is_more(&now, &before);
}

void ml_session_forget_spared(struct ml_session *page, uint32_t pid)
{
    for (size_t i = 0; i < ML_SESSION_SPARED; i++) {
        uint64_t process = atomic_load_explicit(&page->spared[i].process, memory_order_relaxed);
        uint32_t filters = atomic_load_explicit(&page->spared[i].filters, memory_order_relaxed);

        if (!process || (uint32_t)process != pid)
            continue;
        if (ml_spared_is_restricted(filters))
            atomic_store(&page->restricted_forgotten, 1);
        atomic_compare_exchange_strong(&page->spared[i].process, &process, 0);
    }
}

void ml_target_check_sandbox(struct ml_target *t, struct ml_session *page)
{
    struct ml_ringset *set;

    if (!t->sets.len || ml_target_in_sandbox(t) || !is_filtered(t, page))
        return;
    set = t->sets.items[0].shared;
    atomic_fetch_or_explicit(&set->filtered, ML_FILTERED_SEEN, memory_order_relaxed);
    if (!atomic_exchange_explicit(&set->sandboxed, 1, memory_order_relaxed))
        atomic_fetch_add_explicit(&page->entered_sandbox, 1, memory_order_relaxed);
}
