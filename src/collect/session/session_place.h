/* session_place.h: a folder for a session, locked for as long as one of its processes
 * lives. The lock distinguishes folders in use from those that killed runs have left behind.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SESSION_PLACE_H
#define ML_SESSION_PLACE_H

#include <stdbool.h>

/* A path with a file name appended still fits into a socket's address. */
#define ML_SESSION_PATH_ROOM 96

/* The recorder under a name that the loader can parse; see ml_session_dir_reach. */
#define ML_SESSION_LIBRARY "recorder.so"

/* The folder with a copy of the Python package, for a process in a container. */
#define ML_SESSION_PYTHON "python"

/* How a path through an open descriptor begins. */
#define ML_OPEN_FOLDER "/proc/self/fd/"

/* Makes a folder in `parent`, accessible to its owner only.
 * @ret_path  absolute, even if `parent` is not
 * @return a descriptor that holds the lock, in forked processes too, or negative errno */
int ml_session_place_make(const char *parent, char ret_path[ML_SESSION_PATH_ROOM]);

/* Whether files in `parent` are in memory: a store to a mapped one neither waits for a disk nor
 * fails when that is full. */
bool ml_session_place_in_memory(const char *parent);

/* Removes the folder and the session's files in it. */
void ml_session_place_remove(const char *path);

/* Removes from `parent` the folders of this user's sessions that no process uses. */
void ml_session_place_sweep(const char *parent);

#endif
