/* window_beside.h: a file beside another one, which will take its name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_WINDOW_BESIDE_H
#define ML_WINDOW_BESIDE_H

/* Makes a file in the folder of `path`, without a name if the file system can do that: then nothing
 * is left if we are killed.
 * @ret_part  its name, or NULL; the caller frees it
 * @return its descriptor or negative errno */
int ml_beside_make(const char *path, char **ret_part);

/* Gives a name to a file that has none.
 * @part  its name; if NULL, set to the new one, which the caller frees
 * @return 0 or negative errno */
int ml_beside_name(int fd, const char *path, char **part);

#endif
