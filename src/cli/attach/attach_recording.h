/* attach_recording.h: one recording of a process that already runs, as `memledger attach` makes it.
 *
 * The collector is that of `memledger collect`. A process with files of its own gets copies of the
 * recorder (target_place.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_ATTACH_RECORDING_H
#define ML_CLI_ATTACH_RECORDING_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "attached.h"
#include "error.h"
#include "recorded_session.h"
#include "target_place.h"

struct ml_attach_opts {
    const char *output;
    bool force;
    bool quiet;
    bool heap;
    uint64_t for_ns; /* 0: until Ctrl-C or detach */
    uint64_t timeout_ns;
};

struct ml_attach_recording {
    char library[PATH_MAX]; /* paths as the process sees them */
    char package[PATH_MAX]; /* "": none */
    bool loaded;            /* the recorder, by an earlier recording */
    struct ml_target_place place;
    char session[256];
    char session_inside[PATH_MAX]; /* as the process sees it */
    struct ml_recorded_session shared;
    pid_t collector;
    int starter;            /* a pipe by which the collector sees whether we live; 0: none */
    enum ml_attached names; /* of a Python program */
    bool execed;            /* at the end the process had another program */
    char *trace;
    char aside[PATH_MAX]; /* "": there was no such file before */
};

/* Begins it. A failure leaves neither process nor file, and the process as it was.
 * @ret  to be released in any case */
int ml_attach_begin(pid_t pid, const struct ml_attach_opts *opts, struct ml_attach_recording *ret,
                    struct ml_error *err);

/* Whether the collector has not finished. */
bool ml_attach_goes_on(const struct ml_attach_recording *r);

/* Sets the error: there is nothing that detach could end. @return -ESRCH */
int ml_attach_not_recording(pid_t pid, struct ml_error *err);

/* Makes the process end it. The library is the one that the process has loaded; the session's
 * folder has the path that the process knows. */
int ml_attach_end(pid_t pid, const char *library, const char *session, struct ml_error *err);

enum ml_attach_trace {
    ML_ATTACH_COMPLETE,
    ML_ATTACH_CUT_OFF,    /* the collector was killed */
    ML_ATTACH_UNFINISHED, /* the collector still writes */
};

/* Waits until the trace is complete, for half a minute at most, and removes what a collector that
 * was killed has left. */
enum ml_attach_trace ml_attach_finish(const struct ml_attach_recording *r);
void ml_attach_release(struct ml_attach_recording *r);

#endif
