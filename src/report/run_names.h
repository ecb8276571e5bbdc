/* run_names.h: short names for runs, from their files: what sets them apart.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_RUN_NAMES_H
#define ML_REPORT_RUN_NAMES_H

#include <stddef.h>

#include "arena.h"

/* Takes the folder and ".mled" away, then what all names begin with and what
 * all end with, as far as whole words go: vgg19-direct.mled and vgg19-fft.mled
 * become "direct" and "fft". Where that leaves nothing of a name, or names that
 * are the same, file names or paths stay as they are.
 * @ret    `count` names, in the arena
 * @return 0 or -ENOMEM */
int ml_run_names(const char *const *paths, size_t count, struct ml_arena *arena, const char **ret);

#endif
