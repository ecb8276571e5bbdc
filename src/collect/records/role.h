/* role.h: the role of a process among several that train one model: MXNet's scheduler, a
 * server, a worker (DMLC_ROLE). Servers and workers are numbered in the
 * order in which they began. Other processes have the rank that a launcher gave them, or are
 * compilers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ROLE_H
#define ML_ROLE_H

#include <stdbool.h>
#include <stdint.h>

#include "dict.h"
#include "ring.h"

struct ml_role {
    char text[32];   /* "scheduler", "worker 1", "rank 3", "compiler"; "": none */
    uint32_t number; /* among those of its kind */
    bool is_server;  /* itself: not a process that a server forked */
};

/* A process inherits the role of the one it came from. `parent` is the
 * number of that one, -1: not known; `how` is enum ml_process_how. */
void ml_role_find(const struct ml_hello *hello, int64_t parent, uint32_t how,
                  const struct ml_dict *dict, struct ml_role *ret);

struct ml_target;

/* The role that the program has given the process, if it is new; it follows the one that the
 * process has already. The process that started it is then the main one, unless it has a role. */
void ml_role_note(struct ml_target *t, struct ml_dict *dict);

#endif
