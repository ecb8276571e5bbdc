/* folders.h: make the folders on the way to a file, and empty a folder.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_BASE_FOLDERS_H
#define ML_BASE_FOLDERS_H

/* Makes those that are missing on the way to the file, as mkdir -p does. To be called where making
 * the file has failed with ENOENT. Keeps errno.
 * @return 0: there was one missing, and now is none, so try again; else negative errno */
int ml_folders_make(const char *file);

/* Removes files and folders below an open folder, and follows no link. What cannot be removed, or
 * is nested deeper than a few levels, stays. Takes no longer than a folder of some ten thousand
 * entries does, whatever its owner puts there meanwhile. */
void ml_folder_clear(int folder);

#endif
