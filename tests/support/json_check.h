/* json_check.h: is this text one valid JSON value? Strict: no comments, no
 * trailing commas, UTF-8 only, no bare control characters.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TEST_JSON_CHECK_H
#define ML_TEST_JSON_CHECK_H

#include <stddef.h>

/* NULL when it is valid, else the place of the first error. */
const char *json_error(const char *text, size_t len);

#endif
