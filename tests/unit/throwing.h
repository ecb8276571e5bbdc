/* throwing.h: C++ exceptions for tests in C.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TEST_THROWING_H
#define ML_TEST_THROWING_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

void throw_now(void);

/* Whether the call ended so. */
bool throws(void (*call)(void *), void *context);

#ifdef __cplusplus
}
#endif

#endif
