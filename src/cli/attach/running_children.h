/* running_children.h: processes that a process has started before memledger came to it.
 *
 * A process that is forked by a recorded one is recorded, too, because it inherits the recorder.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_RUNNING_CHILDREN_H
#define ML_CLI_RUNNING_CHILDREN_H

#include <sys/types.h>

#include "vec.h"

struct ml_running_children {
    ML_VEC(pid_t) pids;
};

/* Adds the children of a process, and their children, that run and that no recording contains.
 * Leaves out this command and those who started it. As many as there is memory for.
 * @ret  all zero before; to be released */
void ml_running_children_find(pid_t pid, struct ml_running_children *ret);
void ml_running_children_release(struct ml_running_children *c);

#endif
