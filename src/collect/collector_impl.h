/* collector_impl.h: the collector's state; private to its files.
 *
 *     collector.c           begins, repeats rounds, finishes
 *     hellos.c              processes that say hello
 *     silent_processes.c    processes that do not
 *     ended_processes.c     finds processes that have ended, removes them in order
 *     ended_threads.c       the same for threads
 *     collector_progress.c  what the session page says about the collector
 *     collector_sleep.c     how long to sleep between rounds
 *     saves.c               copies of the trace so far
 *     pauses.c              marks of pauses
 *     older_memory.c        a mark after memory that is older than the recording
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_COLLECTOR_IMPL_H
#define ML_COLLECTOR_IMPL_H

#include "cgroup_memory.h"
#include "collector.h"
#include "handed_files.h"
#include "merge.h"
#include "sampler.h"
#include "stage.h"
#include "surroundings.h"

/* A received hello. */
struct ml_received_hello {
    struct ml_hello hello;
    uint32_t pid; /* in the collector's pid namespace */
    int fd;       /* of the ring set, -1: none was sent */
    int pidfd;    /* -1: none was sent */
};

enum ml_save_reason { ML_SAVE_OOM, ML_SAVE_SIGNAL, ML_SAVE_GROWTH, ML_SAVE_REASONS };

/* Copies of the trace so far, see saves.h. */
struct ml_saves {
    bool on_oom;
    struct ml_growth growth;
    uint64_t refusals;                  /* seen so far */
    uint32_t requests;                  /* likewise */
    uint32_t heard;                     /* requests when this round began */
    pid_t child;                        /* makes a copy now; 0: none */
    uint64_t saved_ns[ML_SAVE_REASONS]; /* when the last one began; 0: never */
};

struct ml_collector {
    struct ml_session_dir *session;
    ML_VEC(struct ml_received_hello) hellos; /* read, in order … */
    size_t answered;                         /* … and answered so far */
    struct ml_dict dict;
    struct ml_trace_writer writer;
    struct ml_ticks ticks;
    struct ml_stage stage;
    struct ml_handed_files handed;
    struct ml_merge merge;
    uint64_t saved_ns;
    uint64_t checked_ns; /* when threads were checked last; 0: check everything now */
    uint64_t looked_ns;  /* when processes were */
    uint64_t words;      /* read in this round */
    size_t sandbox_next; /* the next target to check for a sandbox */
    uint64_t idle_ns;
    uint64_t sandbox_ns;    /* the same for processes in a sandbox */
    uint64_t sandbox_words; /* read from their rings when the last round began */
    uint32_t bell;          /* the doorbell when the last round began */
    uint32_t notices_kept;  /* notices that processes printed on stderr, already in the trace */
    pid_t launcher;
    int program_fd;              /* -1: it is gone, or the kernel has no such descriptors */
    int starter_fd;              /* 0: none */
    uint64_t starter_ended_ns;   /* 0: it has not */
    char groups[ML_GROUPS_ROOM]; /* the list of the program's control groups … */
    int groups_fd;               /* … which this keeps; -1: nothing */
    int root;                    /* of the program's files; -1: that of this process */
    uint32_t turn;               /* of the session page, as far as the trace has it */
    uint32_t pauses;             /* so far */
    uint64_t pause_ns;           /* when the last one began */
    uint64_t paused_ns;          /* all that have ended */
    uint64_t older_ticks;        /* of the session page, as far as the trace has it … */
    uint64_t older_marks;        /* … so often */
    uint32_t silent;             /* processes that ran at the end and had not said hello */
    const char *command;
    struct ml_saves saves;
    uint32_t sample_hz;
    bool sample_only;
    struct ml_sampler *sampler;          /* NULL: none */
    struct ml_cgroup_kills kills_before; /* of the run */
};

/* Takes all records with stamps before `until`. */
static inline void ml_collector_take_records(struct ml_collector *c, uint64_t until)
{
    c->words += ml_merge_pass(&c->merge, &c->stage, until);
}

/* Writes a mark of the recording itself, see ml_mark_is_of_recording(). */
static inline void ml_collector_mark(struct ml_collector *c, uint64_t time_ns, uint64_t kind,
                                     uint64_t number)
{
    const struct ml_encoder *e = c->writer.encoder;
    struct ml_event ev = {.kind = ML_MARK,
                          .time_ns = time_ns,
                          .thread = e->thread,
                          .space = e->space,
                          .scope = e->scope,
                          .args = {kind, number}};

    c->stage.own_events++;
    ml_trace_writer_event(&c->writer, &ev);
}

static inline void ml_collector_forget_samples(struct ml_collector *c, const struct ml_target *t)
{
    if (c->sampler)
        ml_sampler_forget(c->sampler, t->pid, t->process);
    ml_growth_forget(&c->saves.growth, t->process);
}

#endif
