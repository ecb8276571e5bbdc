/* early_malloc.h: shared by the early_* programs and libraries.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef EARLY_MALLOC_H
#define EARLY_MALLOC_H

#define EARLY_BYTES 1234
#define MAIN_BYTES 4321

#define SHARED __attribute__((visibility("default")))

/* What the constructor's library allocated. */
SHARED void *early_block(void);

/* Of the library with an indirect function: the function, and what its resolver allocated. */
SHARED int early_indirect(void);
SHARED void *early_indirect_block(void);

#endif
