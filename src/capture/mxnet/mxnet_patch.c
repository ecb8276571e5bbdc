/* mxnet_patch.c: puts MXNet's hooks in place in a process that loaded MXNet without them.
 *
 * MXNet's library calls the functions that detect it, and those that its API begins and ends with,
 * through its own slots; the rest follows from the first call.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "got_slots.h"
#include "loaded.h"
#include "lock.h"
#include "mxnet_dlsym.h"
#include "mxnet_late.h"
#include "mxnet_layout.h"

#define PREFIX "_ZN5mxnet"

static struct ml_lock patch_lock;

static void patch_slot(struct ml_elf_object *o, const struct ml_slot *slot, void *context)
{
    void *hook;

    (void)context;
    if (strncmp(slot->symbol, PREFIX, strlen(PREFIX)))
        return;
    hook = ml_mxnet_hook_of(slot->symbol);
    if (hook)
        ml_elf_object_redirect(o, slot, NULL, hook);
}

static int patch_library(struct dl_phdr_info *info, size_t size, void *inside)
{
    struct ml_elf_object o;

    (void)size;
    ml_elf_object_survey(info, &o);
    if ((uintptr_t)inside < o.begin || (uintptr_t)inside >= o.end)
        return 0;
    ml_elf_object_each_slot(&o, patch_slot, NULL);
    return 1;
}

bool ml_mxnet_patch(void)
{
    int saved_errno = errno;
    void *library = ml_loaded_keep(ML_MXNET_LIBRARY);
    void *inside = library ? ml_dlsym_real_function()(library, "MXGetVersion") : NULL;

    if (inside && ml_lock_or_give_up(&patch_lock)) {
        dl_iterate_phdr(patch_library, inside);
        ml_unlock(&patch_lock);
    }
    dlerror(); /* the program must not find our failures there */
    errno = saved_errno;
    return inside;
}
