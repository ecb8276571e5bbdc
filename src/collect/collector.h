/* collector.h: the process beside the targets: drains their rings, merges the records and
 * writes the trace.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_COLLECTOR_H
#define ML_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "error.h"
#include "growth.h"
#include "session_dir.h"
#include "ticks.h"
#include "window.h"

struct ml_setting {
    const char *key;
    const char *value;
};

struct ml_collector_opts {
    struct ml_window_limits keep;      /* the part of the trace that is kept */
    const char *path;                  /* of the trace */
    bool force;                        /* overwrite it */
    const struct ml_setting *settings; /* kept in the trace; ends with a NULL key */
    pid_t launcher;      /* our parent, which requests the end; 0: it cannot die before us */
    pid_t program;       /* the first process to be recorded */
    const char *command; /* its command line, kept while collecting */
    uint32_t sample_hz;  /* 0: no samples */
    bool save_on_oom;    /* copies of the trace so far, see saves.h */
    struct ml_growth_limit save_on_growth;
    bool runs;        /* the program already runs */
    int starter_fd;   /* a pipe that ends with those who make the program join; 0: none */
    bool own_root;    /* the program has files of its own, as in a container */
    bool sample_only; /* no process says hello: they are found through /proc */
};

struct ml_collector;

/* Creates the trace. The session must outlive the collector. */
int ml_collector_new(const struct ml_collector_opts *opts, struct ml_session_dir *session,
                     const struct ml_ticks *ticks, struct ml_collector **ret, struct ml_error *err);

/* Call it in the process that will run it: the lock then names that process to others. */
void ml_collector_sign(struct ml_collector *c);

/* Waits for the program to be started if the page says that it is held, then
 * collects until the page says finish, or until the launcher, the program and
 * all targets are gone; then closes the trace. Returns 0 or the error of the
 * first write that failed. */
int ml_collector_run(struct ml_collector *c);

/* Instead of running it: deletes a file that ml_collector_new created; an older trace stays
 * unchanged. */
void ml_collector_discard(struct ml_collector *c);
void ml_collector_free(struct ml_collector *c);

#endif
