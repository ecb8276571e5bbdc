/* cache_folder.h: the user's cache folder for files that memledger can make again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_CACHE_FOLDER_H
#define ML_CLI_CACHE_FOLDER_H

#include <stddef.h>

/* The path of a file in memledger's folder in XDG_CACHE_HOME, or in ~/.cache. Nothing is created.
 * @return 0; -ENOENT if neither is known; -ENAMETOOLONG */
int ml_cache_path(const char *name, char *ret, size_t len);

/* Removes the files of the folder that were not used for the longest time, until the others have
 * 4 GiB at most.
 * @keep   a file of the folder that is not removed */
void ml_cache_trim(const char *keep);

#endif
