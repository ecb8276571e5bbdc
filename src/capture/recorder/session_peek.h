/* session_peek.h: the part of the session that a process must know before the recorder may start in
 * it (whether it was started in a sandbox), and the part that it leaves there for programs that it
 * starts.
 *
 * Peeking makes only calls that the dynamic loader makes too (openat for reading, read, close), so
 * that a program that could be started survives it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SESSION_PEEK_H
#define ML_SESSION_PEEK_H

#include <stdbool.h>
#include <stdint.h>

#include "ring.h"
#include "seccomp_state.h"

struct ml_session_view {
    bool known;                   /* whether the launcher could read its own state … */
    struct ml_seccomp_state base; /* … which is this */
    /* From the nearest ancestor that added filters, or the process itself: how many leave the
     * recorder alone, or ML_SPARED_RESTRICTED and the like. 0: none was added. */
    uint32_t spared;
    bool has_gaps; /* an entry that said restricted was replaced */
};

/* Changes errno.
 * @return whether there is a readable page of this version */
bool ml_session_peek(const char *dir, struct ml_session_view *ret);

/* Counts this process among those that began in a sandbox. Opens the page for writing, which a
 * loader does not do: call it only if ML_SPARED_MAY_COUNT says that this is safe. */
void ml_session_count_sandboxed(const char *dir);

/* This process's entry in the table of those that added filters. */
struct ml_spared_entry {
    struct ml_session_spared *at; /* NULL: there is none */
    uint64_t process;
};

/* Finds it or takes one, with the same calls as ml_session_peek. A new one says restricted. */
struct ml_spared_entry ml_session_own_entry(void);

/* Leaves the state for programs that this process starts or executes. Makes no call. */
void ml_session_set_spared(const struct ml_spared_entry *entry, uint32_t filters);

#endif
