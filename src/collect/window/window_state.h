/* window_state.h: everything that a window must repeat at its beginning, so that the rest of it
 * means the same as in the whole recording: definitions, live blocks, notes; and the sums of what
 * was dropped.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_WINDOW_STATE_H
#define ML_WINDOW_STATE_H

#include "index.h"
#include "vec.h"
#include "window_blocks.h"
#include "window_notes.h"

/* The end of a block's definitions. */
struct ml_window_defs_end {
    size_t bytes;   /* in `defs` */
    uint32_t count; /* of definitions since the one before */
};

enum ml_window_end {
    ML_WINDOW_RUNS = 0,
    ML_WINDOW_ENDED = 1,
    ML_WINDOW_GONE = 2, /* see window_gone.h */
};

struct ml_window_process {
    uint32_t first_space; /* number + 1, 0: none */
    uint32_t end;         /* enum ml_window_end */
};

/* A space that is defined. */
struct ml_window_space_def {
    uint32_t process;
    uint32_t next; /* of the process, as above */
};

struct ml_window_state {
    struct ml_buf defs; /* all definitions so far, as records */
    ML_VEC(struct ml_window_defs_end) defs_ends;
    size_t blank_bytes; /* of them, in blank ones */
    ML_VEC(struct ml_window_process) processes;
    ML_VEC(struct ml_window_space_def) spaces;
    ML_VEC(uint32_t) thread_process;    /* of each thread that is defined */
    ML_VEC(uint32_t) just_ended, ended; /* processes: since the state was last written, before */
    uint32_t highest_gone; /* number + 1 of the space of the highest peak of those that are gone */
    struct ml_window_blocks blocks;
    struct ml_window_notes notes;
    struct ml_index_totals dropped; /* events that were fed */
    uint64_t begin_ns;              /* time of the last of them */
};

/* All zero bytes is a valid empty state. */
void ml_window_state_release(struct ml_window_state *s);

/* Takes the records of a block of definitions. @return 0, -EBADMSG or -ENOMEM */
int ml_window_state_define(struct ml_window_state *s, const uint8_t *raw, size_t len,
                           uint32_t count);

/* Takes the next events that leave the window. @return 0 or -ENOMEM */
int ml_window_state_feed(struct ml_window_state *s, const struct ml_event *events, size_t count);

#endif
