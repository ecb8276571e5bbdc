/* regular_file.h: opens a file only if it is a regular one.
 *
 * Opening another kind may hang or have effects, and a stranger chose the path.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PROCESS_REGULAR_FILE_H
#define ML_PROCESS_REGULAR_FILE_H

/* The file is opened through the descriptor that was checked: its name may mean another file by
 * now.
 * @found  opened with O_PATH, is closed; negative: it could not be, and is returned
 * @how    flags of open
 * @return a descriptor or negative errno */
int ml_regular_file_open(int found, int how);

/* The same for a file as memfd_create makes it: in memory, without a name, still empty. Another
 * file is not changed, so `how` must not have O_TRUNC. */
int ml_memory_file_open(int found, int how);

#endif
