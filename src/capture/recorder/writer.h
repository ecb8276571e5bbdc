/* writer.h: what recorder.c needs of writer.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_WRITER_H
#define ML_WRITER_H

/* Once per process, before the first record. */
void ml_writer_init(void);

/* Sees to it that this thread has a ring, if there is one to be had. Keeps errno. */
void ml_writer_prepare(void);

#endif
