/* torch_slots.c: see torch_slots.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "torch_slots.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "dlsym_hook.h"
#include "got_slots.h"
#include "lock.h"

#define CALLERS "/libtorch_cuda"
#define CALLERS_MAX 4

struct filling {
    const char *prefix;
    const struct ml_torch_slot *slots;
    unsigned count;
};

static const struct ml_torch_slot *slot_of(const struct filling *f, const char *symbol)
{
    if (strncmp(symbol, f->prefix, strlen(f->prefix)))
        return NULL;
    for (unsigned i = 0; i < f->count; i++)
        if (!strcmp(f->slots[i].symbol, symbol))
            return &f->slots[i];
    return NULL;
}

/* Each function is known by one address: if the callers use two libraries of one name, the second
 * is left alone. */
static void patch_slot(struct ml_elf_object *o, const struct ml_slot *slot, void *context)
{
    const struct ml_torch_slot *wanted = slot_of(context, slot->symbol);
    void *found, *real;

    if (!wanted)
        return;
    found = ml_dlsym_as_seen_from((const void *)o->dynamic, slot->symbol);
    real = __atomic_load_n(wanted->real, __ATOMIC_RELAXED);
    if (!found || (real && real != found))
        return;
    __atomic_store_n(wanted->real, found, __ATOMIC_RELAXED);
    ml_elf_object_redirect(o, slot, found, wanted->hook);
}

struct callers {
    struct ml_elf_object list[CALLERS_MAX];
    unsigned count;
};

static int find_caller(struct dl_phdr_info *info, size_t size, void *context)
{
    struct callers *callers = context;

    (void)size;
    if (info->dlpi_name && strstr(info->dlpi_name, CALLERS) && callers->count < CALLERS_MAX)
        ml_elf_object_survey(info, &callers->list[callers->count++]);
    return 0;
}

/* Looks functions up after the walk: a look-up takes another lock of the loader's, and dlopen takes
 * both in the other order. PyTorch's libraries are never unloaded. */
static void patch_callers(struct filling *f)
{
    struct callers callers = {.count = 0};

    dl_iterate_phdr(find_caller, &callers);
    for (unsigned i = 0; i < callers.count; i++)
        ml_elf_object_each_slot(&callers.list[i], patch_slot, f);
    dlerror(); /* the program must not find our failures there */
}

void ml_torch_slots_fill(const char *prefix, const struct ml_torch_slot *slots, unsigned count)
{
    static struct ml_lock slots_lock;
    struct filling f = {prefix, slots, count};
    int saved_errno = errno;

    if (ml_lock_or_give_up(&slots_lock)) {
        patch_callers(&f);
        ml_unlock(&slots_lock);
    }
    errno = saved_errno;
}
