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

/* Live bytes of counted spaces, see window_sums.h. */
struct ml_window_gauge {
    uint64_t live_bytes, peak_bytes, peak_ns;
};

struct ml_window_process {
    uint32_t first_space; /* number + 1, 0: none */
    uint32_t end;         /* enum ml_window_end */
    uint32_t pid;
    struct ml_window_gauge bytes;
};

struct ml_window_device {
    uint32_t string; /* its name */
    struct ml_window_gauge bytes;
};

/* A device of a process. */
struct ml_window_place {
    uint32_t device;
    uint32_t top_level; /* of its spaces: those of this one are counted */
    bool has_heap;      /* its malloc or mmap is recorded, block by block */
};

/* A space that is defined. */
struct ml_window_space_def {
    uint32_t process;
    uint32_t next; /* of the process, as above */
    uint32_t place;
    uint8_t level;
    bool is_reported;                 /* its blocks may be parts of malloc's */
    uint64_t counted_bytes;           /* in the gauges */
    uint64_t sampled_bytes;           /* of its definition */
    uint64_t made_parts, freed_parts; /* of blocks that its samples stand for, see sampled.h */
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
    /* Sums of them: see window_sums.h. */
    ML_VEC(struct ml_window_device) devices;
    ML_VEC(struct ml_window_place) places;
    struct ml_map place_index; /* process and device -> place */
    struct ml_window_gauge all;
    uint64_t gone_allocations, gone_frees; /* of processes that are gone */
    uint32_t heap_name, map_name;          /* strings, 0: not defined yet */
    uint64_t steps, last_step;
    uint32_t step_process; /* the first that marked one */
    uint64_t begin_ns;     /* time of the last of them */
};

/* All zero bytes is a valid empty state. */
void ml_window_state_release(struct ml_window_state *s);

/* Takes the records of a block of definitions. @return 0, -EBADMSG or -ENOMEM */
int ml_window_state_define(struct ml_window_state *s, const uint8_t *raw, size_t len,
                           uint32_t count);

/* Takes the next events that leave the window. @return 0 or -ENOMEM */
int ml_window_state_feed(struct ml_window_state *s, const struct ml_event *events, size_t count);

#endif
