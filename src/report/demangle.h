/* demangle.h: names of functions as their authors wrote them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_DEMANGLE_H
#define ML_REPORT_DEMANGLE_H

#include "vec.h"

/* Appends the symbol: a C++ one in words where this machine has a C++ library to
 * read it with, else as it is. Thread-safe.
 * @return 0 or -ENOMEM */
int ml_demangle(const char *symbol, struct ml_buf *out);

#endif
