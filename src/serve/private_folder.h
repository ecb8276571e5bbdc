/* private_folder.h: a temporary folder that only this user can enter, removed at the end with
 * everything in it. Holds files that were dropped on the page or imported, and the page that passes
 * the browser its address.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SERVE_PRIVATE_FOLDER_H
#define ML_SERVE_PRIVATE_FOLDER_H

#include <limits.h>
#include <stdatomic.h>

#include "error.h"

struct ml_private_folder {
    char path[PATH_MAX];
    atomic_uint places;
};

/* Makes it in TMPDIR or /tmp. @return 0 or negative errno with a reason */
int ml_private_folder_make(struct ml_private_folder *folder, struct ml_error *err);

/* Does nothing to one that was not made. */
void ml_private_folder_remove(struct ml_private_folder *folder);

/* The path of a file in a new folder of its own inside. Thread-safe.
 * @name    from outside; only its harmless characters are used
 * @return 0 or negative errno */
int ml_private_folder_place(struct ml_private_folder *folder, const char *name, char ret[PATH_MAX],
                            struct ml_error *err);

#endif
