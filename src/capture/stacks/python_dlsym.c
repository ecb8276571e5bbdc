/* python_dlsym.c: see python_dlsym.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "python_dlsym.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>

#include "call_stack.h"
#include "python_stack.h"

/* The recorder calls functions of the library from now on, on any thread. */
static void keep_loaded(const struct ml_python *py)
{
    struct link_map *object;
    Dl_info info;

    if (dladdr1((const void *)py->thread_state, &info, (void **)&object, RTLD_DL_LINKMAP))
        dlopen(object->l_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

static void *hook_of(void *handle, const char *name)
{
    const struct ml_python *found = ml_call_stack_loaded();

    (void)handle;
    (void)name;
    if (found)
        keep_loaded(found);
    return NULL;
}

const struct ml_dlsym_provider ml_python_dlsym = {.prefix = {'P', 'y'}, .hook_of = hook_of};
