/* folders.h: the folders that a path leads through.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_BASE_FOLDERS_H
#define ML_BASE_FOLDERS_H

/* Makes those that are missing on the way to the file, as mkdir -p does. To be called where making
 * the file has failed with ENOENT. Keeps errno.
 * @return 0: there was one missing, and now is none, so try again; else negative errno */
int ml_folders_make(const char *file);

#endif
