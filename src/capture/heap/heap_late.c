/* heap_late.c: see heap_late.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "heap_late.h"

#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>

#include "compiler.h"
#include "got_slots.h"
#include "heap_real.h"
#include "heap_start.h"
#include "loaded_symbols.h"
#include "lock.h"

/* Members of ml_real, at their places there. */
static const char *const names[] = {"malloc",   "free",           "calloc",
                                    "realloc",  "posix_memalign", "aligned_alloc",
                                    "memalign", "valloc",         "pvalloc"};
_Static_assert(offsetof(struct ml_heap_real, pvalloc) == 8 * sizeof(void *), "in their order");

static struct {
    void *hook, *real;
} functions[ML_ARRAY_SIZE(names)];

static struct ml_lock late_lock;
static bool active;
/* Whether a slot that is not resolved yet will lead to the real function: no other object brings an
 * allocator of its own, whose blocks must not come to ours. */
static bool unresolved_too;

static int number_of(const char *symbol)
{
    for (size_t i = 0; i < ML_ARRAY_SIZE(names); i++)
        if (!strcmp(symbol, names[i]))
            return (int)i;
    return -1;
}

static void hook_slot(struct ml_elf_object *o, const struct ml_slot *slot, void *context)
{
    int i = number_of(slot->symbol);
    uintptr_t to;

    (void)context;
    if (i < 0 || !functions[i].real || !functions[i].hook)
        return;
    to = __atomic_load_n((uintptr_t *)slot->at, __ATOMIC_RELAXED);
    if (to == (uintptr_t)functions[i].real)
        ml_elf_object_put(o, slot->at, to, functions[i].hook);
    else if (unresolved_too && !slot->is_own)
        ml_elf_object_redirect(o, slot, functions[i].real, functions[i].hook);
}

static void unhook_slot(struct ml_elf_object *o, const struct ml_slot *slot, void *context)
{
    int i = number_of(slot->symbol);

    (void)context;
    if (i >= 0 && functions[i].hook &&
        __atomic_load_n((uintptr_t *)slot->at, __ATOMIC_RELAXED) == (uintptr_t)functions[i].hook)
        ml_elf_object_put(o, slot->at, (uintptr_t)functions[i].hook, functions[i].real);
}

static bool is_own_object(const struct ml_elf_object *o)
{
    return (uintptr_t)functions[0].hook >= o->begin && (uintptr_t)functions[0].hook < o->end;
}

static int visit(struct dl_phdr_info *info, size_t size, void *context)
{
    struct ml_elf_object o;

    (void)size;
    ml_elf_object_survey(info, &o);
    if (!is_own_object(&o))
        ml_elf_object_each_slot(&o, *(ml_slot_visitor **)context, NULL);
    return 0;
}

static bool is_of_libc(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;

    return !strncmp(name, "libc.so", 7) || !strncmp(name, "libc-", 5) || !strncmp(name, "ld", 2);
}

static int look_for_allocator(struct dl_phdr_info *info, size_t size, void *context)
{
    struct ml_elf_object o;
    uintptr_t defined;

    (void)size;
    ml_elf_object_survey(info, &o);
    if (!o.dynamic || is_own_object(&o) || is_of_libc(info->dlpi_name ? info->dlpi_name : ""))
        return 0;
    defined = (uintptr_t)ml_symbol_in(o.base, o.dynamic, names[0]);
    *(bool *)context = defined && defined != (uintptr_t)functions[0].real;
    return *(bool *)context;
}

static void find_functions(void)
{
    const struct link_map *own = ml_symbols_own_object();
    void *const *real = (void *const *)(const void *)&ml_real;

    for (size_t i = 0; own && i < ML_ARRAY_SIZE(names); i++) {
        functions[i].hook = ml_symbol_in(own->l_addr, own->l_ld, names[i]);
        functions[i].real = __atomic_load_n(&real[i], __ATOMIC_ACQUIRE);
    }
}

/* Records nothing before all slots lead to the hooks: the block that one object allocates may be
 * freed by another. */
static void begin(void)
{
    ml_slot_visitor *visitor = hook_slot;
    int saved_errno = errno;
    bool other = false;

    if (ml_lock_or_give_up(&late_lock)) {
        find_functions();
        dl_iterate_phdr(look_for_allocator, &other);
        unresolved_too = !other;
        if (functions[0].hook && functions[0].real) {
            dl_iterate_phdr(visit, (void *)&visitor);
            ml_heap_begin_late();
            active = true;
        }
        ml_unlock(&late_lock);
    }
    errno = saved_errno;
}

static void end(void)
{
    ml_slot_visitor *visitor = unhook_slot;
    int saved_errno = errno;

    if (ml_lock_or_give_up(&late_lock)) {
        if (active)
            dl_iterate_phdr(visit, (void *)&visitor);
        active = false;
        ml_heap_end_late();
        ml_unlock(&late_lock);
    }
    errno = saved_errno;
}

extern const struct ml_heap_late memledger_heap_late_v1;

__attribute__((visibility("default"))) const struct ml_heap_late memledger_heap_late_v1 = {
    .begin = begin,
    .end = end,
};
