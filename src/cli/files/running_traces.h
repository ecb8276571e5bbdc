/* running_traces.h: the traces that are being recorded on this machine.
 *
 * The kernel lists the locks of all processes, and the process that writes a trace holds one on it
 * (file_lock.h). Its open files, which only its own user and root may look at, tell the path.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_RUNNING_TRACES_H
#define ML_CLI_RUNNING_TRACES_H

#include <stdint.h>

#include "arena.h"
#include "vec.h"

struct ml_running_trace {
    const char *path;
    uint32_t collector; /* pid */
    uint32_t launcher;  /* pid of `memledger run`; 0: none */
};

struct ml_running_traces {
    struct ml_arena arena;
    ML_VEC(struct ml_running_trace) list;
    size_t hidden; /* recorders of other users: their files cannot be seen */
};

/* @ret    to be released; empty if there are none or /proc cannot be read */
void ml_running_read(struct ml_running_traces *ret);
void ml_running_release(struct ml_running_traces *running);

#endif
