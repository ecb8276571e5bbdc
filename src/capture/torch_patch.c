/* torch_patch.c: see torch_patch.h.
 *
 * PyTorch's libraries call the hooked functions by name, the one that defines them
 * too, so each call goes through a slot of the caller's global offset table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "torch_patch.h"

#include <errno.h>
#include <string.h>

#include "dlsym_hook.h"
#include "got_slots.h"
#include "lock.h"
#include "torch_real.h"

/* All that is C++; most symbols are told apart here. */
#define PREFIX "_ZN"

static struct ml_lock lock;

/* Resolved, or still to be: then it leads back into its object. */
static bool leads_to(const struct ml_object *o, uintptr_t to, const void *real)
{
    return to == (uintptr_t)real || (to >= o->begin && to < o->end);
}

static void patch_slot(struct ml_object *o, const struct ml_slot *slot, void *context)
{
    void *hook, *real;
    uintptr_t to;

    (void)context;
    if (strncmp(slot->symbol, PREFIX, strlen(PREFIX)))
        return;
    hook = ml_torch_hook_of(slot->symbol);
    real = ml_torch_behind(slot->symbol);
    if (!real)
        return;
    to = __atomic_load_n((uintptr_t *)slot->at, __ATOMIC_RELAXED);
    while (leads_to(o, to, real)) {
        uintptr_t was = ml_object_put(o, slot->at, to, hook);
        if (was == to)
            break;
        to = was;
    }
}

static int patch_object(struct dl_phdr_info *info, size_t size, void *context)
{
    uintptr_t own = (uintptr_t)ml_dlsym_hook;
    struct ml_object o;

    (void)size;
    ml_object_survey(info, &o);
    if (own < o.begin || own >= o.end)
        ml_object_slots(&o, patch_slot, context);
    return 0;
}

bool ml_torch_patch(void)
{
    int saved_errno = errno;
    bool found;

    ml_torch_learn();
    found = __atomic_load_n(&ml_torch_reals[ML_TORCH_alloc_cpu], __ATOMIC_RELAXED);
    if (found && ml_lock_or_give_up(&lock)) {
        dl_iterate_phdr(patch_object, NULL);
        ml_unlock(&lock);
    }
    errno = saved_errno;
    return found;
}
