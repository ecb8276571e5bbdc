/* demangle.c: see demangle.h.
 *
 * The C++ library is looked for at run time: a C program that shows a trace
 * should not need one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "demangle.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef char *demangle_fn(const char *symbol, char *buf, size_t *bytes, int *status);

static pthread_once_t once = PTHREAD_ONCE_INIT;
static demangle_fn *cxa_demangle; /* NULL: there is none */

static void find_demangler(void)
{
    void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);

    if (library)
        *(void **)&cxa_demangle = dlsym(library, "__cxa_demangle");
}

int ml_demangle(const char *symbol, struct ml_buf *out)
{
    char *name = NULL;
    int status = -1;
    int r;

    if (!strncmp(symbol, "_Z", 2)) {
        pthread_once(&once, find_demangler);
        name = cxa_demangle ? cxa_demangle(symbol, NULL, NULL, &status) : NULL;
    }
    r = ml_buf_puts(out, name && status == 0 ? name : symbol);
    free(name);
    return r;
}
