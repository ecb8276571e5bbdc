/* surroundings.h: what a trace says about the machine: the memory limit of the control group, and
 * how far its clock may be off. Reports on several hosts need both.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_COLLECT_SURROUNDINGS_H
#define ML_COLLECT_SURROUNDINGS_H

#include <sys/types.h>

#include "dict.h"

#define ML_GROUPS_ROOM 32

/* Keeps the list of control groups of a program that already runs, which may have others than the
 * collector, for when the program has ended.
 * @ret_path  of the list; unchanged if there is none
 * @return a descriptor that keeps it, or -1 */
int ml_surroundings_keep_groups(pid_t program, char ret_path[ML_GROUPS_ROOM]);

/* Adds the settings of host_settings.h.
 * @groups  as for ml_cgroup_limit_bytes */
void ml_surroundings_note(struct ml_dict *dict, const char *groups);

#endif
