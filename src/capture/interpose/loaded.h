/* loaded.h: finds libraries that the program has loaded, without loading any.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_LOADED_H
#define ML_LOADED_H

#include <limits.h>
#include <stdbool.h>

/* The path under which the first library whose file name begins with `name` was loaded: asking for
 * another path would search the disk. Allocates nothing.
 * @return whether there is one */
bool ml_loaded_path(const char *name, char ret[PATH_MAX]);

/* Its handle; the library stays loaded from then on. NULL: there is none. */
void *ml_loaded_keep(const char *name);

#endif
