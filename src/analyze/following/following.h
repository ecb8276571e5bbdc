/* following.h: the state of a run while it is recorded: a live table that reads on as the trace
 * grows.
 *
 *     ml_following_open(path, &f, &err);
 *     for (;;) {
 *         ml_following_poll(f, &err);
 *         ml_live_view(f, &question, &view, &err);   (live_view.h)
 *         ... wait ...
 *     }
 *
 * Each event is read once, and memory grows with the live blocks and the definitions, not with the
 * events. Some definitions change what the events before them mean: the first module, or a space of
 * a level that counts instead of another. The trace is then read again from its start, which
 * happens in the first moments of a program.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_FOLLOWING_H
#define ML_ANALYZE_FOLLOWING_H

#include "earlier.h"
#include "following_classes.h"
#include "net_read.h"
#include "replay.h"
#include "replay_net.h"
#include "row_history.h"
#include "samples.h"
#include "second_history.h"
#include "step_track.h"
#include "trace.h"

/* The latest samples of a device. */
struct ml_following_sample {
    uint32_t string; /* its name in the trace */
    struct ml_seen used, free, total;
    bool by_process; /* whether there were samples of processes of the run */
};

/* What the processes of the run use of it, by the latest samples. */
struct ml_following_use {
    uint32_t string, process;
    uint64_t bytes;
};

/* An ended recording whose last memory is shown: the state is earlier than the last event. */
struct ml_following_end {
    bool is_shown;
    uint64_t event;   /* the last that was read; 0: all are */
    uint64_t time_ns; /* of it */
    bool all_freed;   /* the program had freed everything when it ended */
    /* What the whole recording had. */
    struct ml_following_totals totals;
    ML_VEC(uint32_t) ended; /* numbers of processes */
};

struct ml_following {
    char *path;
    struct ml_trace *trace;
    struct ml_replay replay;
    struct ml_following_classes *classes; /* NULL: blocks have the categories of their labels */
    uint32_t spaces, scopes, strings;     /* definitions that have been looked at */
    struct ml_step_track steps;
    bool is_paused;
    uint64_t paused_at_ns;
    uint64_t step_begin_ns, step_length_ns; /* of the running one; of the last finished one */
    uint64_t step_peak_bytes, last_step_peak_bytes;
    ML_VEC(struct ml_following_sample) samples;
    ML_VEC(struct ml_following_use) uses;
    struct ml_earlier earlier;
    uint64_t earlier_allocations; /* since the start, when the file begins; see ml_earlier */
    struct ml_second_history total, allocations, frees;
    ML_VEC(struct ml_second_history) devices; /* as in the replay */
    ML_VEC(struct ml_second_history) processes;
    struct ml_row_history rows;
    struct ml_net_reader nets;
    struct ml_net_series series;
    uint64_t net_blocks; /* whose net was read instead of their events */
    bool begins;         /* the events so far are read: without nets */
    bool awaits;         /* a series that was asked for */
    bool postponed;      /* the last block is not read yet */
    uint64_t ask_ns;     /* the earliest time to ask for one, CLOCK_MONOTONIC */
    unsigned refusals;   /* successive ones */
    unsigned losses;     /* series that broke off */
    uint64_t restarts;
    struct ml_following_end end;
};

/* Opens the trace and reads what it has so far. The caller owns *ret.
 * @return 0 or negative errno */
int ml_following_open(const char *path, struct ml_following **ret, struct ml_error *err);
void ml_following_free(struct ml_following *f);

/* Reads on. If another recording has replaced the file, starts with that one.
 * @return 1 if there was anything new, 0 if not, or negative errno */
int ml_following_poll(struct ml_following *f, struct ml_error *err);

/* The time of the run now, see ml_trace_now_ns(). */
uint64_t ml_following_now(const struct ml_following *f);

/* If the recording has ended, goes back to its last memory, until another recording replaces the
 * file or the same one turns out to go on: to the end of the program, or, if that had freed
 * everything, to the moment before the last free. Figures of the whole recording stay. Does nothing
 * while the recording goes on.
 * @return 0 or negative errno */
int ml_following_show_end(struct ml_following *f, struct ml_error *err);

/* Since the start of the recording. Also the totals of the whole recording while its last memory is
 * shown. */
struct ml_following_totals ml_following_totals(const struct ml_following *f);

/* Whether the process ended in the recording, by its number in the trace. */
bool ml_following_has_ended(const struct ml_following *f, uint32_t process);

#endif
