/* session_files.h: hands files to the collector that this process has opened.
 *
 * The collector writes what a program asks for, often after the program has ended, but it
 * never opens a file that a program names: it may have other rights and another root. The
 * program opens the file, as what it is at that moment, and the collector gets the descriptor.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SESSION_FILES_H
#define ML_SESSION_FILES_H

#include <stdint.h>

/* A connection to the collector, also for a process that has dropped its rights or changed its
 * root. System calls only; changes errno.
 * @return a descriptor, -1: it cannot be reached */
int ml_session_reach_collector(void);

/* Opens the file for writing, makes it if there is none, and hands it over under a new number.
 * A file that is there keeps its contents. System calls only; changes errno.
 * @ret_number  to be told in an ML_REC_FILE
 * @return 0, or the errno of what failed; ENOTCONN: the collector cannot be reached, and
 *         nothing was made */
int ml_session_hand_file(const char *path, uint32_t *ret_number);

#endif
