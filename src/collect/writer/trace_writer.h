/* trace_writer.h: writes a .mled file, block by block.
 *
 * Every block is complete when it is written, so the file is valid at any moment;
 * closing adds the index. When the disk is full the writer still takes
 * events and counts them as lost; closing then removes the last blocks to make
 * room for that count and the index.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TRACE_WRITER_H
#define ML_TRACE_WRITER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "dict.h"
#include "encode.h"
#include "error.h"
#include "event_packer.h"
#include "index.h"
#include "net_publisher.h"
#include "vec.h"
#include "window.h"

/* The data passed to the writing thread: the events of a block, and the
 * definitions that precede it. */
struct ml_write_job {
    struct ml_encoder *encoder;
    struct ml_index_totals counts; /* of its events */
    struct ml_buf defs;
    uint32_t def_count;
    bool ends_nets; /* followers read the events, see net_events.h */
    bool waiting;   /* guarded by the writer's lock */
};

struct ml_trace_writer {
    /* For the collecting thread. */
    struct ml_dict *dict;
    struct ml_encoder *encoder;
    struct ml_index_totals counts; /* of the events in `encoder` */

    /* Shared by the two: one block is filled while the other is compressed and
     * written, which takes longer than filling it. */
    struct ml_write_job job;
    pthread_t thread;
    /* The thread stores its tid here before others wait for it; 0
     * until then. NULL: not wanted. */
    _Atomic uint32_t *thread_id;
    bool thread_started;
    bool thread_ends; /* guarded by lock, like job.waiting */
    pthread_mutex_t lock;
    pthread_cond_t changed;

    const char *path;
    bool is_new; /* the file did not exist before */
    uint8_t header[ML_FILE_HEADER_BYTES];
    uint64_t start_wall_ns;

    /* For the writing thread; others read it through the atomics. */
    int fd;
    bool keeps_old;           /* the old contents are still there; the first block replaces them */
    _Atomic uint64_t offset;  /* end of the last complete block */
    uint64_t file_end;        /* of everything, including a lent block */
    bool can_rewrite;         /* it is a regular file */
    bool lent;                /* the last block of the index is, see ml_trace_writer_save */
    struct ml_window *window; /* NULL: the whole trace is kept */
    struct ml_net_publisher nets;
    uint32_t sequence;
    bool saves_bytes;         /* see ml_trace_writer_save_bytes */
    struct ZSTD_CCtx_s *zstd; /* for other blocks than events */
    struct ml_event_packer packer;
    struct ml_buf raw;
    struct ml_buf def_columns;
    struct ml_buf packed;
    ML_VEC(struct ml_index_entry) index;
    ML_VEC(struct ml_index_totals) index_counts; /* of each entry */
    struct ml_index_totals totals;               /* of the file */
    _Atomic uint64_t written;                    /* events in it */
    _Atomic uint64_t lent_events;                /* of them in a lent block */
    uint64_t last_ns;                            /* time of the last of them */
    _Atomic uint64_t lost;                       /* events that could not be written */
    uint64_t lost_notes;    /* the counts of lost events that could not be written */
    uint64_t lost_since_ns; /* when that began */
    _Atomic int error;      /* of the first failed write, negative; 0: none */
};

/* Creates the file, mode 0600, or with `force` takes an existing one, whose contents
 * stay until the first block is written; see trace_file.h. The path and the dictionary
 * must outlive the writer. */
int ml_trace_writer_open(struct ml_trace_writer *w, const char *path, bool force,
                         uint64_t start_wall_ns, struct ml_dict *dict, struct ml_error *err);

/* Keeps only the last part of the trace, see window.h. Call it after opening. A failure leaves the
 * writer as it was. */
int ml_trace_writer_keep(struct ml_trace_writer *w, const struct ml_window_limits *limits,
                         struct ml_error *err);

/* Passes nets of the blocks to followers that ask for them, see net_board.h. Call it after opening.
 * If that fails, followers read the blocks. */
void ml_trace_writer_publish(struct ml_trace_writer *w);

/* Makes a smaller file, for a program whose every malloc is recorded: times of events are rounded
 * down to multiples of 4,096 ns, in the same order, and blocks that took long to fill are
 * compressed harder. Call it after opening. */
void ml_trace_writer_save_bytes(struct ml_trace_writer *w);

/* Passes the definitions and events collected so far to the writing thread,
 * after it has finished the last ones. */
void ml_trace_writer_flush(struct ml_trace_writer *w);

/* Writes everything so far, so that little is lost if we are killed. A small
 * block is only lent to the file: the next write replaces it by a larger one,
 * since many small blocks make a large file. */
void ml_trace_writer_save(struct ml_trace_writer *w);

/* The same, and waits until everything is in the file. No block is lent. */
void ml_trace_writer_settle(struct ml_trace_writer *w);

/* Whether a save now would only lend its block. */
bool ml_trace_writer_is_small(const struct ml_trace_writer *w);

/* As flush, if so many definitions are waiting that they might exceed a block.
 * Call after adding some. */
static inline void ml_trace_writer_relieve(struct ml_trace_writer *w)
{
    if (ML_UNLIKELY(w->dict->records.len > ML_BLOCK_MAX_BYTES / 4))
        ml_trace_writer_flush(w);
}

/* Writes the rest, the loss if there was one, index and trailer; releases
 * everything. Returns 0, or the error of the first write that failed. */
int ml_trace_writer_close(struct ml_trace_writer *w);

/* Releases everything and leaves the file as it is. */
void ml_trace_writer_abandon(struct ml_trace_writer *w);

/* Releases everything and abandons the trace, before its first block: a new file
 * is deleted, an older trace stays unchanged. */
void ml_trace_writer_discard(struct ml_trace_writer *w);

/* Takes one event; ev->kind must be known. */
static inline void ml_trace_writer_event(struct ml_trace_writer *w, const struct ml_event *ev)
{
    if (ML_UNLIKELY(ml_encoder_full(w->encoder)))
        ml_trace_writer_flush(w);
    ml_encoder_add(w->encoder, ev);
    w->counts.events[ev->kind]++;
    if (ML_UNLIKELY(ev->kind == ML_LOST && ml_lost_is_events(ev->args[2])))
        w->counts.lost += ev->args[0];
}

#endif
