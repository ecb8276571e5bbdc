/* leak_signs.h: which of the groups in a book look like leaks. Only leaks.c includes it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_LEAK_SIGNS_H
#define ML_ANALYZE_LEAK_SIGNS_H

#include "leak_book.h"
#include "leaks.h"

/* Fills in which steps count, what they did, and the list.
 * @return 0 or -ENOMEM */
int ml_leak_signs(const struct ml_leak_book *book, const struct ml_leaks_opts *opts,
                  struct ml_leaks *ret);

#endif
