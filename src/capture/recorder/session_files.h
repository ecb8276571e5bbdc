/* session_files.h: passes files that this process has opened to the collector.
 *
 * The collector writes the files that a program asks for, often after the program has ended, but it
 * never opens a file that a program names: it may have other rights and another root. The program
 * opens the file with the rights that it has at that moment, and the collector gets the descriptor.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SESSION_FILES_H
#define ML_SESSION_FILES_H

#include <stdint.h>

/* A connection to the collector, also for a process that has dropped its rights or changed its
 * root. System calls only; changes errno.
 * @return a descriptor, -1: the collector cannot be reached */
int ml_session_reach_collector(void);

/* Opens the file for writing, creates it if there is none, and passes it on under a new number. An
 * existing file keeps its contents. System calls only; changes errno.
 * @ret_number  to be sent in an ML_REC_FILE
 * @return 0, or the errno of the call that failed; ENOTCONN: the collector cannot be reached, and
 *         no file was created */
int ml_session_hand_file(const char *path, uint32_t *ret_number);

#endif
