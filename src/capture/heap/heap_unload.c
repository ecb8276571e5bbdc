/* heap_unload.c: a hook on dlclose, after which stacks may have other meanings.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>

#include "call_stack.h"
#include "heap_real.h"
#include "heap_seen.h"

/* The result is libc's, and so is its message for dlerror. */
ML_HOOK int dlclose(void *handle)
{
    int result = ML_REAL(dlclose)(handle);

    if (ML_HEAP_STACKS)
        ml_call_stack_unloaded();
    return result;
}
