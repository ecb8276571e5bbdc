/* trace_writer.h: writes a .mled file, block by block.
 *
 * Every block is whole when it is written, so the file is good at any moment;
 * closing adds the index. When the disk is full the writer goes on taking
 * events and counts them as lost; closing then gives up the last blocks to make
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
#include "index.h"
#include "vec.h"

/* What is handed to the writing thread: the events of a block, and the
 * definitions that go before it. */
struct ml_write_job {
    struct ml_encoder *encoder;
    struct ml_index_totals counts; /* of its events */
    struct ml_buf defs;
    uint32_t def_count;
    bool waiting; /* guarded by the writer's lock */
};

struct ml_trace_writer {
    /* The collecting thread's. */
    struct ml_dict *dict;
    struct ml_encoder *encoder;
    struct ml_index_totals counts; /* of the events in `encoder` */

    /* Between the two: one block is filled while the other is compressed and
     * written, which takes longer than filling it. */
    struct ml_write_job job;
    pthread_t thread;
    /* Where the thread leaves its number, as the kernel knows it, before anybody waits for it; 0
     * until then. NULL: nobody asks. */
    _Atomic uint32_t *thread_id;
    bool thread_started;
    bool thread_ends; /* guarded by lock, like job.waiting */
    pthread_mutex_t lock;
    pthread_cond_t changed;

    const char *path;
    bool is_new; /* the file was not there before */
    uint8_t header[ML_FILE_HEADER_BYTES];

    /* The writing thread's; read by others through the atomics. */
    int fd;
    bool keeps_old;          /* it is as it was before; the first block replaces what is in it */
    _Atomic uint64_t offset; /* end of the last whole block */
    uint64_t file_end;       /* of everything, a block that is only lent among it */
    bool can_rewrite;        /* it is a regular file */
    bool lent;               /* the last block of the index is */
    uint32_t sequence;
    struct ZSTD_CCtx_s *zstd;
    struct ml_buf raw;
    struct ml_buf packed;
    ML_VEC(struct ml_index_entry) index;
    ML_VEC(struct ml_index_totals) index_counts; /* of each entry */
    struct ml_index_totals totals;               /* of the file */
    _Atomic uint64_t written;                    /* events in it */
    _Atomic uint64_t lent_events;                /* of them in a block that is only lent */
    uint64_t last_ns;                            /* time of the last of them */
    _Atomic uint64_t lost;                       /* events that could not be written */
    uint64_t lost_notes;    /* what lost events that could not be written had counted */
    uint64_t lost_since_ns; /* when that began */
    _Atomic int error;      /* of the first failed write, negative; 0: none */
};

/* Creates the file, mode 0600, or with `force` takes an existing one, whose contents
 * stay until the first block is written; see trace_file.h. The path and the dictionary
 * must outlive the writer. */
int ml_trace_writer_open(struct ml_trace_writer *w, const char *path, bool force,
                         uint64_t start_wall_ns, struct ml_dict *dict, struct ml_error *err);

/* Hands the definitions and events collected so far to the writing thread,
 * after it is done with what it had. */
void ml_trace_writer_flush(struct ml_trace_writer *w);

/* Writes what there is now, so that little is lost if we are killed. A small
 * block is only lent to the file: the next write puts a larger one in its place,
 * since a file of many small blocks is a large file. */
void ml_trace_writer_save(struct ml_trace_writer *w);

/* As flush, if so many definitions are waiting that they might outgrow a block.
 * Call after adding some. */
static inline void ml_trace_writer_relieve(struct ml_trace_writer *w)
{
    if (ML_UNLIKELY(w->dict->records.len > ML_BLOCK_MAX_BYTES / 4))
        ml_trace_writer_flush(w);
}

/* Writes what is left, the loss if there was one, index and trailer; releases
 * everything. Returns 0, or the error of the first write that failed. */
int ml_trace_writer_close(struct ml_trace_writer *w);

/* Releases everything and leaves the file as it is. */
void ml_trace_writer_abandon(struct ml_trace_writer *w);

/* Releases everything of a trace that is of no use, before its first block: a new file
 * is deleted, an older trace stays as it was. */
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
