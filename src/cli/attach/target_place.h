/* target_place.h: a folder for the recorder in a container with files of its own.
 *
 * Such a process sees neither memledger's files nor the collector's folder, and a process of
 * another user may not be allowed to read them. So the session's folder is made in one of the
 * process's own folders for temporary files, with the process's user, and copies of the recorder
 * and of the Python package are put into it. The collector removes it at the end; the recorder's
 * file is removed as soon as the process has loaded it. Where no file in these folders may be
 * executed, the libraries are in memory (lent_file.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_TARGET_PLACE_H
#define ML_CLI_TARGET_PLACE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "error.h"
#include "file_user.h"

struct ml_target_place {
    pid_t pid;
    int folder;    /* for temporary files, open in processes that we start; -1: none needed */
    char path[32]; /* the folder as these processes reach it */
    char inside[PATH_MAX]; /* as the target does */
    bool no_code;          /* the mount forbids to execute files */
    struct ml_file_user user;
};

/* Chooses the folder. @return 0; -ENOENT: the process has none that can be used; another negative
 *         errno */
int ml_target_place_find(pid_t pid, struct ml_target_place *ret, struct ml_error *err);
void ml_target_place_release(struct ml_target_place *p);

/* Copies the recorder and the package into the session's folder, and replaces their paths by those
 * that the process sees.
 * @session         its path here
 * @session_inside  its path in the process
 * @library         "": the process has loaded it already
 * @package         the folder that contains the package; "": none is needed */
int ml_target_place_fill(const struct ml_target_place *p, const char *session,
                         const char *session_inside, char library[PATH_MAX], char package[PATH_MAX],
                         struct ml_error *err);

/* Removes the libraries that the process has loaded by now. */
void ml_target_place_forget(const struct ml_target_place *p, const char *session);

#endif
