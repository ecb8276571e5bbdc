/* mxnet_exchange.c: see mxnet_exchange.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "mxnet_exchange.h"

#include <dlfcn.h>
#include <string.h>

#include "dlsym_hook.h"
#include "got_slots.h"
#include "own_memory.h"

#define WORDS_MAX 64    /* of all features */
#define VIRTUALS_MAX 64 /* words of a table of virtual functions */

struct word {
    const struct ml_mxnet_exchange *exchange;
    void **at; /* NULL: wherever it is called by name */
};

struct words {
    const void *inside;
    struct word items[WORDS_MAX];
    unsigned count;
};

/* ---- Finding -------------------------------------------------------------------- */

static unsigned words_of(const void *table)
{
    const ElfW(Sym) *symbol = NULL;
    Dl_info info;

    if (!dladdr1(table, &info, (void **)(void *)&symbol, RTLD_DL_SYMENT) || !symbol)
        return 0;
    return (unsigned)(symbol->st_size / sizeof(void *));
}

void **ml_mxnet_virtual(void *library, const char *table, const void *function)
{
    void **at = ml_dlsym_real_function()(library, table);
    unsigned count = at ? words_of(at) : 0;
    void *words[VIRTUALS_MAX];

    if (count > VIRTUALS_MAX || ml_own_memory_read((uintptr_t)at, words, count * sizeof(*words)) <
                                    (long)(count * sizeof(*words)))
        return NULL;
    for (unsigned i = ML_VTABLE_HEAD; i < count; i++) {
        if (words[i] == function)
            return &at[i];
    }
    return NULL;
}

/* @return whether it exists */
static bool find(void *library, const struct ml_mxnet_exchange *e, void **ret_function,
                 struct word *ret)
{
    *ret_function = ml_dlsym_real_function()(library, e->function);
    *ret = (struct word){.exchange = e};
    if (*ret_function && e->table)
        ret->at = ml_mxnet_virtual(library, e->table, *ret_function);
    return *ret_function && (!e->table || ret->at);
}

/* Adds the words of a feature, or none. */
static bool add(void *library, const struct ml_mxnet_feature *feature, struct words *words)
{
    void *reals[ML_MXNET_EXCHANGES_MAX];
    unsigned added = 0;

    for (unsigned i = 0; i < ML_MXNET_EXCHANGES_MAX && feature->exchanges[i].real; i++) {
        const struct ml_mxnet_exchange *e = &feature->exchanges[i];
        if (!e->function)
            continue;
        if (words->count + added == WORDS_MAX ||
            !find(library, e, &reals[i], &words->items[words->count + added]))
            return false;
        added += e->hook != NULL;
    }
    for (unsigned i = 0; i < ML_MXNET_EXCHANGES_MAX && feature->exchanges[i].real; i++) {
        if (feature->exchanges[i].function)
            *feature->exchanges[i].real = reals[i];
    }
    words->count += added;
    if (feature->is_on)
        *feature->is_on = true;
    return true;
}

/* ---- Putting -------------------------------------------------------------------- */

static void visit_slot(struct ml_elf_object *o, const struct ml_slot *slot, void *context)
{
    const struct words *words = context;

    if (strncmp(slot->symbol, "_ZN", 3)) /* not a C++ function */
        return;
    for (unsigned i = 0; i < words->count; i++) {
        const struct word *w = &words->items[i];
        if (!w->at && !strcmp(slot->symbol, w->exchange->function))
            ml_elf_object_redirect(o, slot, *w->exchange->real, w->exchange->hook);
    }
}

static int put_all(struct dl_phdr_info *info, size_t size, void *context)
{
    struct words *words = context;
    struct ml_elf_object o;

    (void)size;
    ml_elf_object_survey(info, &o);
    if ((uintptr_t)words->inside < o.begin || (uintptr_t)words->inside >= o.end)
        return 0;
    for (unsigned i = 0; i < words->count; i++) {
        const struct word *w = &words->items[i];
        if (w->at)
            ml_elf_object_put(&o, (uintptr_t)w->at, (uintptr_t)*w->exchange->real,
                              w->exchange->hook);
    }
    ml_elf_object_each_slot(&o, visit_slot, words);
    return 1;
}

bool ml_mxnet_exchange(void *library, const void *inside,
                       const struct ml_mxnet_feature *const features[], unsigned count)
{
    struct words words = {.inside = inside};
    bool all = true;

    for (unsigned i = 0; i < count; i++)
        all &= !features[i] || add(library, features[i], &words);
    dl_iterate_phdr(put_all, &words);
    return all;
}
