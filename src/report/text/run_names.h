/* run_names.h: short names for runs: the parts of their file names that differ.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_RUN_NAMES_H
#define ML_REPORT_RUN_NAMES_H

#include <stddef.h>

#include "arena.h"

/* Removes the folder and ".mled", then the common prefix and suffix of all
 * names, in whole words: vgg19-direct.mled and vgg19-fft.mled
 * become "direct" and "fft". If that leaves an empty name, or two
 * equal ones, file names or paths stay as they are.
 * @ret    `count` names, in the arena
 * @return 0 or -ENOMEM */
int ml_run_names(const char *const *paths, size_t count, struct ml_arena *arena, const char **ret);

/* The beginning that ml_run_names removed from all of them: "vgg19". @return "" if it removed
 * none; NULL without memory */
const char *ml_run_names_common(const char *const *paths, const char *const *names, size_t count,
                                struct ml_arena *arena);

#endif
