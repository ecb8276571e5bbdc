/* loaded.h: libraries that the program has loaded, found without loading any.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_LOADED_H
#define ML_LOADED_H

#include <limits.h>
#include <stdbool.h>

/* The path of the first loaded library whose file name begins with `name`, as it
 * was loaded under: to ask for another would search the disk. Allocates nothing.
 * @return whether there is one */
bool ml_loaded_path(const char *name, char ret[PATH_MAX]);

/* Its handle, and it stays loaded from then on; NULL: there is none. */
void *ml_loaded_keep(const char *name);

#endif
