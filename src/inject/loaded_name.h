/* loaded_name.h: the name under which a process has loaded a library.
 *
 * dlopen() finds a loaded library by this name, even if its file has been removed, or if the
 * process has changed its root. /proc/PID/maps may show another path.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_LOADED_NAME_H
#define ML_LOADED_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Looks for the first library whose file has this beginning of its name.
 * @ret  its name, which ends with '\0'
 * @return false: none is loaded */
bool ml_loaded_name_find(pid_t pid, const char *begin, char *ret, size_t room);

#endif
