/* code_object.c: see code_object.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "code_object.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

#include "loaded_symbols.h"
#include "own_memory.h"

/* The program headers of an object are in its first page; linkers put them first. */
#define HEADERS_MAX_BYTES 4096

/* From <dlfcn.h> of glibc 2.35. */
struct found_object {
    unsigned long long flags;
    void *map_start;
    void *map_end;
    struct link_map *link_map;
    void *eh_frame;
    unsigned long long reserved[7];
};
typedef int find_function(void *address, struct found_object *ret);

static find_function *find_object; /* NULL: the loader has none */

void ml_code_object_init(void)
{
    find_object = (find_function *)ml_symbol_after(NULL, "_dl_find_object", NULL);
}

/* ---- Program headers ------------------------------------------------------------- */

struct headers {
    uintptr_t base; /* added to the addresses in them */
    const ElfW(Phdr) * first;
    size_t count;
};

/* The readable part of the file in memory that contains the address. */
static const ElfW(Phdr) * loaded_part(const struct headers *h, uintptr_t address)
{
    for (size_t i = 0; i < h->count; i++) {
        const ElfW(Phdr) *p = &h->first[i];
        if (p->p_type == PT_LOAD && p->p_flags & PF_R && address - h->base >= p->p_vaddr &&
            address - h->base - p->p_vaddr < p->p_filesz)
            return p;
    }
    return NULL;
}

static const ElfW(Phdr) * unwind_part(const struct headers *h)
{
    for (size_t i = 0; i < h->count; i++) {
        if (h->first[i].p_type == PT_GNU_EH_FRAME)
            return &h->first[i];
    }
    return NULL;
}

/* .eh_frame is in the same part as .eh_frame_hdr: linkers put both into the read-only data. */
static void read_sections(const struct headers *h, struct ml_cfi_sections *ret)
{
    const ElfW(Phdr) *header = unwind_part(h);
    uintptr_t at = header ? h->base + header->p_vaddr : 0;
    const ElfW(Phdr) *part = header ? loaded_part(h, at) : NULL;

    if (!part || header->p_filesz > part->p_filesz - (header->p_vaddr - part->p_vaddr))
        return;
    *ret = (struct ml_cfi_sections){
        .header = at,
        .header_end = at + header->p_filesz,
        .loaded = h->base + part->p_vaddr,
        .loaded_end = h->base + part->p_vaddr + part->p_filesz,
    };
}

static bool read_object(const struct headers *h, uintptr_t address, struct ml_code_object *ret)
{
    const ElfW(Phdr) *code = loaded_part(h, address);

    if (!code)
        return false;
    *ret = (struct ml_code_object){
        .code = h->base + code->p_vaddr,
        .code_end = h->base + code->p_vaddr + code->p_filesz,
    };
    read_sections(h, &ret->cfi);
    return true;
}

/* ---- The loader -------------------------------------------------------------------- */

/* An object begins with its headers. Of one that is loaded in separate pieces the loader returns
 * the piece, which may not even be readable. */
static bool headers_at(const struct found_object *found, struct headers *ret)
{
    uintptr_t start = (uintptr_t)found->map_start;
    ElfW(Ehdr) e;
    int saved_errno = errno;
    bool ok = ml_own_memory_read(start, &e, sizeof(e)) == sizeof(e);

    errno = saved_errno;
    if (!ok || memcmp(e.e_ident, ELFMAG, SELFMAG) || e.e_phentsize != sizeof(ElfW(Phdr)) ||
        e.e_phoff + e.e_phnum * sizeof(ElfW(Phdr)) > HEADERS_MAX_BYTES)
        return false;
    *ret = (struct headers){
        .base = found->link_map->l_addr,
        .first = (const ElfW(Phdr) *)(start + e.e_phoff),
        .count = e.e_phnum,
    };
    return true;
}

struct search {
    uintptr_t address;
    struct ml_code_object *ret;
};

static int look_into(struct dl_phdr_info *info, size_t bytes, void *arg)
{
    const struct search *search = arg;
    struct headers h = {info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum};

    (void)bytes;
    return read_object(&h, search->address, search->ret);
}

bool ml_code_object_at(uintptr_t address, struct ml_code_object *ret)
{
    struct search search = {address, ret};
    struct found_object found;
    struct headers h;

    if (find_object && find_object((void *)address, &found))
        return false;
    if (find_object && headers_at(&found, &h))
        return read_object(&h, address, ret);
    return dl_iterate_phdr(look_into, &search);
}
