/* utf8_clean.h: convert any bytes to valid UTF-8. Separate from utf8.h, which allocates nothing
 * and is used inside the target.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_BASE_UTF8_CLEAN_H
#define ML_BASE_UTF8_CLEAN_H

#include "vec.h"

/* Appends the text, with U+FFFD for each byte that is not UTF-8. @return 0 or -ENOMEM */
int ml_utf8_clean(const char *s, size_t len, struct ml_buf *out);

#endif
