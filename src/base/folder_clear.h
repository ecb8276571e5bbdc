/* folder_clear.h: removes what is in a folder.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_BASE_FOLDER_CLEAR_H
#define ML_BASE_FOLDER_CLEAR_H

/* Removes files and folders below an open folder, and follows no link. What cannot be removed, or
 * is nested deeper than a few levels, stays. Takes no longer than a folder of some ten thousand
 * entries does, whatever its owner puts there meanwhile. */
void ml_folder_clear(int folder);

#endif
