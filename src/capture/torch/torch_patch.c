/* torch_patch.c: puts PyTorch's hooks in place in a process that loaded PyTorch without them.
 *
 * PyTorch's libraries, including the one that defines them, call the hooked functions by name, so
 * each call goes through a slot of the caller's global offset table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "dlsym_hook.h"
#include "got_slots.h"
#include "lock.h"
#include "torch_real.h"

/* All C++ symbols; rules out most others. */
#define PREFIX "_ZN"

static struct ml_lock patch_lock;

static void patch_slot(struct ml_elf_object *o, const struct ml_slot *slot, void *context)
{
    void *real;

    (void)context;
    if (strncmp(slot->symbol, PREFIX, strlen(PREFIX)))
        return;
    real = ml_torch_behind(slot->symbol);
    if (real)
        ml_elf_object_redirect(o, slot, real, ml_torch_hook_of(slot->symbol));
}

/* context: the visitor of its slots. */
static int visit_object(struct dl_phdr_info *info, size_t size, void *context)
{
    uintptr_t own = (uintptr_t)ml_dlsym_hook;
    struct ml_elf_object o;

    (void)size;
    ml_elf_object_survey(info, &o);
    if (own < o.begin || own >= o.end)
        ml_elf_object_each_slot(&o, *(ml_slot_visitor **)context, NULL);
    return 0;
}

static void unpatch_slot(struct ml_elf_object *o, const struct ml_slot *slot, void *context)
{
    void *real, *hook;

    (void)context;
    if (strncmp(slot->symbol, PREFIX, strlen(PREFIX)))
        return;
    real = ml_torch_behind(slot->symbol);
    hook = real ? ml_torch_hook_of(slot->symbol) : NULL;
    if (hook && __atomic_load_n((void **)slot->at, __ATOMIC_RELAXED) == hook)
        ml_elf_object_put(o, slot->at, (uintptr_t)hook, real);
}

void ml_torch_unpatch(void)
{
    ml_slot_visitor *visitor = unpatch_slot;
    int saved_errno = errno;

    if (__atomic_load_n(&ml_torch_reals[ML_TORCH_alloc_cpu], __ATOMIC_RELAXED) &&
        ml_lock_or_give_up(&patch_lock)) {
        dl_iterate_phdr(visit_object, (void *)&visitor);
        ml_unlock(&patch_lock);
    }
    errno = saved_errno;
}

bool ml_torch_patch(void)
{
    ml_slot_visitor *visitor = patch_slot;
    int saved_errno = errno;
    bool found;

    ml_torch_learn();
    found = __atomic_load_n(&ml_torch_reals[ML_TORCH_alloc_cpu], __ATOMIC_RELAXED);
    if (found && ml_lock_or_give_up(&patch_lock)) {
        dl_iterate_phdr(visit_object, (void *)&visitor);
        ml_unlock(&patch_lock);
    }
    errno = saved_errno;
    return found;
}
