/* session_peek.h: what a process must know of the session before the recorder may start in it:
 * whether it was started in a sandbox; and what it leaves there for programs that it starts.
 *
 * Looking makes only calls that the dynamic loader makes too (openat for reading, read, close),
 * so that a program that could be started survives it.
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
    /* Of the nearest ancestor that added filters, or of the process itself: how many leave the
     * recorder alone, or ML_SPARED_RESTRICTED and the like. 0: none of them did. */
    uint32_t spared;
    bool has_gaps; /* some entry that said restricted is gone */
};

/* Changes errno.
 * @return whether there is a page that can be read, of this version */
bool ml_session_peek(const char *dir, struct ml_session_view *ret);

/* Counts this process among those that began in a sandbox. Opens the page for writing, which
 * a loader does not: only where ML_SPARED_MAY_COUNT says that this is safe. */
void ml_session_count_sandboxed(const char *dir);

/* This process's entry in the table of those that added filters. */
struct ml_spared_entry {
    struct ml_session_spared *at; /* NULL: there is none */
    uint64_t process;
};

/* Finds it or takes one, by the same calls as ml_session_peek. A new one says restricted. */
struct ml_spared_entry ml_session_own_entry(void);

/* Leaves word for programs that this process starts, or becomes. Makes no call. */
void ml_session_set_spared(const struct ml_spared_entry *entry, uint32_t filters);

#endif
