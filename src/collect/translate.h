/* translate.h: translates ring records into trace events.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TRANSLATE_H
#define ML_TRANSLATE_H

#include <stdbool.h>

#include "target.h"
#include "ticks.h"
#include "trace_writer.h"

/* The state that translation needs. */
struct ml_stage {
    struct ml_dict *dict;
    struct ml_trace_writer *writer;
    struct ml_ticks *ticks;
    _Atomic uint64_t *heartbeat;        /* raised now and then in a long pass */
    uint64_t start_wall_ns;             /* wall-clock time of time 0 */
    uint64_t lost;                      /* records that targets dropped, recorded in the trace */
    uint64_t not_followed;              /* of them: blocks and objects, likewise */
    uint64_t names_folded;              /* uses of names, likewise */
    uint64_t spaces_refused;            /* likewise */
    uint64_t details_lost;              /* stacks, libraries, scopes and labels, likewise */
    uint64_t unkept_seen;               /* of dict->unkept, already in the trace */
    uint64_t own_events;                /* of no target: ends and losses */
    uint64_t refusals;                  /* events of targets: out of memory */
    uint64_t samples;                   /* that the collector took itself */
    ML_VEC(struct ml_target *) targets; /* all that are being recorded */
    ML_VEC(struct ml_source *) own;     /* rings of the collector's own threads */
    struct ml_handed_files *handed;     /* files that targets opened; NULL: none come */
};

/* A sign of life. It has one writer, so a plain load and store are enough. */
static inline void ml_stage_beat(const struct ml_stage *stage)
{
    uint64_t beat = atomic_load_explicit(stage->heartbeat, memory_order_relaxed);
    atomic_store_explicit(stage->heartbeat, beat + 1, memory_order_relaxed);
}

/* Reads the record at s->tail: its length and stamp. False at s->end. A ring
 * with an invalid record is emptied, and the loss recorded in the trace. */
bool ml_source_peek(struct ml_stage *stage, struct ml_source *s);

/* The stamp of the last record in the ring of a process that no longer writes; 0: there is none. */
uint64_t ml_source_last_ticks(const struct ml_stage *stage, const struct ml_source *s);

/* Drops everything before s->end as damaged. */
void ml_source_skip(struct ml_stage *stage, struct ml_source *s);

/* Translates the record that ml_source_peek saw and steps over it. */
void ml_source_take(struct ml_stage *stage, struct ml_source *s);

/* The same for a sequence of plain allocations and frees with stamps before `limit`,
 * at once. Returns the number of records taken, which may be 0. */
uint32_t ml_source_take_plain(struct ml_stage *stage, struct ml_source *s, uint64_t limit);

/* The ring has a new thread: gives it a number. */
void ml_source_open(struct ml_stage *stage, struct ml_source *s);

/* The name that the program has given the thread, if it is new. */
void ml_source_note_name(struct ml_stage *stage, struct ml_source *s);

/* The ring's thread has ended and everything is read. */
void ml_source_close(struct ml_stage *stage, struct ml_source *s);

/* Records in the trace how many records the target dropped since the last call. */
void ml_source_note_lost(struct ml_stage *stage, struct ml_source *s);
void ml_target_note_lost(struct ml_stage *stage, struct ml_target *t);

/* The same for records of processes that have no rings. */
void ml_stage_note_lost(struct ml_stage *stage, uint64_t count);

/* The same for names that the dictionary had no room for. */
void ml_stage_note_unkept(struct ml_stage *stage);

/* The process has ended, after its last event and after it was last seen. The
 * status is 1 + that of waitpid(), 0: unknown. */
void ml_target_note_end(struct ml_stage *stage, struct ml_target *t, uint64_t status);

#endif
