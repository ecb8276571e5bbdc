/* part_guard.h: a command that is interrupted leaves no part of a file behind.
 *
 *     ml_part_hold(path);                  no signal between making the file ...
 *     r = ml_output_open(&out, ...);
 *     ml_part_guard(r == 0 ? out.written : NULL);   ... and guarding it
 *     ...
 *     ml_part_guard(NULL);                 it has its final name, or was removed
 *
 * One file at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_PART_GUARD_H
#define ML_CLI_PART_GUARD_H

/* Signals that end the program wait for the next ml_part_guard, unless the file is a
 * pipe or a device: opening one can take for ever, and creates nothing. */
void ml_part_hold(const char *path);

/* Such a signal removes the file; an ignored signal stays ignored.
 * @path  copied; NULL: there is none to remove */
void ml_part_guard(const char *path);

#endif
