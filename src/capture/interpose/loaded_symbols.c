/* loaded_symbols.c: see loaded_symbols.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "loaded_symbols.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A bit of a version number: a symbol of an old version, which only programs that were linked with
 * it may find. */
#define VERSION_HIDDEN 0x8000
#define VERSION_GLOBAL 1 /* this and 0 mean no version */

/* The parts of an object's dynamic section that concern symbols. */
struct tables {
    ElfW(Addr) base;
    const ElfW(Sym) * symbols;
    const char *names;
    const ElfW(Half) * versions; /* NULL: it has none */
    const uint32_t *gnu_hash;    /* one of the two suffices */
    const uint32_t *hash;
};

/* ---- One object ---------------------------------------------------------------- */

/* The loader has added the base to the addresses in most dynamic sections. */
static const void *address_in(ElfW(Addr) base, ElfW(Addr) value)
{
    return (const void *)(value < base ? base + value : value);
}

static bool read_tables(ElfW(Addr) base, const ElfW(Dyn) * dynamic, struct tables *ret)
{
    *ret = (struct tables){.base = base};
    for (const ElfW(Dyn) *d = dynamic; d && d->d_tag != DT_NULL; d++) {
        const void *at = address_in(base, d->d_un.d_ptr);
        switch (d->d_tag) {
        case DT_SYMTAB: ret->symbols = at; break;
        case DT_STRTAB: ret->names = at; break;
        case DT_VERSYM: ret->versions = at; break;
        case DT_GNU_HASH: ret->gnu_hash = at; break;
        case DT_HASH: ret->hash = at; break;
        default: break;
        }
    }
    return ret->symbols && ret->names;
}

static bool is_function_or_data(const ElfW(Sym) * symbol)
{
    unsigned type = ELF64_ST_TYPE(symbol->st_info);

    return type == STT_NOTYPE || type == STT_OBJECT || type == STT_FUNC || type == STT_GNU_IFUNC;
}

static bool is_it(const struct tables *t, uint32_t index, const char *name)
{
    const ElfW(Sym) *symbol = &t->symbols[index];
    unsigned version = t->versions ? t->versions[index] : VERSION_GLOBAL;

    return symbol->st_shndx != SHN_UNDEF && symbol->st_value && is_function_or_data(symbol) &&
           ELF64_ST_BIND(symbol->st_info) != STB_LOCAL &&
           (version <= VERSION_GLOBAL || !(version & VERSION_HIDDEN)) &&
           !strcmp(t->names + symbol->st_name, name);
}

static uint32_t gnu_hash_of(const char *name)
{
    uint32_t hash = 5381;

    for (const unsigned char *c = (const unsigned char *)name; *c; c++)
        hash = hash * 33 + *c;
    return hash;
}

/* The table: four words (buckets, first symbol, words of a Bloom filter, a shift), the filter, the
 * buckets, and one word for each symbol, whose lowest bit ends a chain. 0: not found. */
static uint32_t find_by_gnu_hash(const struct tables *t, const char *name)
{
    uint32_t buckets = t->gnu_hash[0];
    uint32_t first = t->gnu_hash[1];
    const uint32_t *bucket = t->gnu_hash + 4 + t->gnu_hash[2] * (sizeof(ElfW(Addr)) / 4);
    const uint32_t *chain = bucket + buckets;
    uint32_t hash = gnu_hash_of(name);
    uint32_t i = buckets ? bucket[hash % buckets] : 0;

    if (i < first)
        return 0;
    for (;; i++) {
        if ((chain[i - first] | 1) == (hash | 1) && is_it(t, i, name))
            return i;
        if (chain[i - first] & 1)
            return 0;
    }
}

/* The older table has the number of symbols in its second word. Few objects have only this table,
 * so this looks at all symbols. */
static uint32_t find_by_hash(const struct tables *t, const char *name)
{
    for (uint32_t i = 1; i < t->hash[1]; i++) {
        if (is_it(t, i, name))
            return i;
    }
    return 0;
}

void *ml_symbol_in(ElfW(Addr) base, const ElfW(Dyn) * dynamic, const char *name)
{
    struct tables t;
    uint32_t index = 0;
    uintptr_t at;

    if (!read_tables(base, dynamic, &t))
        return NULL;
    if (t.gnu_hash)
        index = find_by_gnu_hash(&t, name);
    else if (t.hash)
        index = find_by_hash(&t, name);
    if (!index)
        return NULL;
    at = (t.symbols[index].st_shndx == SHN_ABS ? 0 : base) + t.symbols[index].st_value;
    if (ELF64_ST_TYPE(t.symbols[index].st_info) == STT_GNU_IFUNC)
        return ((void *(*)(void))at)();
    return (void *)at;
}

/* ---- Those that came with the program ------------------------------------------- */

extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));

const struct link_map *ml_symbols_own_object(void)
{
    const struct link_map *object = _r_debug.r_map;

    while (object && object->l_ld != _DYNAMIC)
        object = object->l_next;
    return object;
}

void *ml_symbol_after(const struct link_map *after, const char *name,
                      const struct link_map **ret_object)
{
    const struct link_map *object = after ? after->l_next : _r_debug.r_map;

    for (; object; object = object->l_next) {
        void *at = ml_symbol_in(object->l_addr, object->l_ld, name);
        if (!at)
            continue;
        if (ret_object)
            *ret_object = object;
        return at;
    }
    return NULL;
}

/* ---- All --------------------------------------------------------------------------- */

struct search {
    const char *name;
    void *found;
};

static int search_object(struct dl_phdr_info *info, size_t size, void *context)
{
    struct search *search = context;

    (void)size;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type == PT_DYNAMIC)
            search->found = ml_symbol_in(
                info->dlpi_addr, (const void *)(info->dlpi_addr + part->p_vaddr), search->name);
    }
    return search->found != NULL;
}

void *ml_symbol_anywhere(const char *name)
{
    struct search search = {.name = name};

    dl_iterate_phdr(search_object, &search);
    return search.found;
}
