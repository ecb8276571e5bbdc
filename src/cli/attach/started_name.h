/* started_name.h: the name with which a process was started.
 *
 * The kernel knows the file that a process runs, which may have several names: redis-server is a
 * link to redis-check-rdb. The command line has the name that the user typed. The process can
 * overwrite it, as well as the short name that `ps` shows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_STARTED_NAME_H
#define ML_CLI_STARTED_NAME_H

#include <sys/types.h>

#define ML_STARTED_NAME_ROOM 64

/* The first word of the command line without its folder, if the short name or the program's file
 * confirms it; else the name of the file. It contains no slash. "" if the process is gone. */
void ml_started_name(pid_t pid, char ret[ML_STARTED_NAME_ROOM]);

#endif
