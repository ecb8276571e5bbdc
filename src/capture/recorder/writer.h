/* writer.h: the functions of writer.c that recorder.c and sandbox.c call.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_WRITER_H
#define ML_WRITER_H

/* Call once per process, before the first record. */
void ml_writer_init(void);

/* Gives this thread a ring, if one is available. Keeps errno. */
void ml_writer_prepare(void);

#endif
