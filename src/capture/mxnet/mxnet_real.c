/* mxnet_real.c: see mxnet_real.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "mxnet_real.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

#include "dlsym_hook.h"
#include "loaded.h"
#include "mxnet_layout.h"

void *ml_mxnet_real(const char *symbol, const void *hook, const void *caller)
{
    int saved_errno = errno;
    void *library = ml_loaded_keep(ML_MXNET_LIBRARY);
    void *found = library ? ml_dlsym_real_function()(library, symbol) : NULL;

    if (!found || found == hook)
        found = ml_dlsym_as_seen_from(caller, symbol);
    dlerror(); /* the program must not find our failures there */
    errno = saved_errno;
    return found == hook ? NULL : found;
}
