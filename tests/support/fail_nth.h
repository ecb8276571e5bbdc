/* fail_nth.h: let allocations fail, to test how a program handles it.
 *
 * With fail_nth_dep the linker routes the calls of malloc, calloc and realloc,
 * the test's own too, through here (--wrap=malloc and so on). They succeed until
 * told otherwise. For one thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TEST_FAIL_NTH_H
#define ML_TEST_FAIL_NTH_H

#include <stdbool.h>

/* `n` allocations succeed, the next one fails, those after it succeed. */
void fail_nth(long n);

/* `n` allocations succeed, all after them fail. */
void fail_from_nth(long n);

/* From here on all succeed. @return whether one failed since fail_nth or
 * fail_from_nth */
bool fail_end(void);

#endif
