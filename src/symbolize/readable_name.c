/* readable_name.c: see readable_name.h.
 *
 * libiberty is the only C library that knows the names of C++ and both schemes of Rust. Its
 * licence permits linking its demanglers into any program.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "readable_name.h"

#include <stddef.h>

#ifdef ML_WITH_LIBIBERTY
#include <libiberty/demangle.h>

char *ml_readable_name(const char *symbol)
{
    if (symbol[0] != '_' || (symbol[1] != 'Z' && symbol[1] != 'R'))
        return NULL;
    return cplus_demangle(symbol, DMGL_AUTO | DMGL_PARAMS | DMGL_ANSI);
}
#else
char *ml_readable_name(const char *symbol)
{
    (void)symbol;
    return NULL;
}
#endif
