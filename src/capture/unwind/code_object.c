/* code_object.c: see code_object.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "code_object.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>

#include "loaded_symbols.h"

/* The program headers of a library are in its first page; linkers put them first. */
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

bool ml_code_object_can(void)
{
    return find_object;
}

/* ---- Program headers ------------------------------------------------------------- */

/* The readable part of the file in memory that contains the address. */
static const ElfW(Phdr) * loaded_part(const struct dl_phdr_info *h, uintptr_t address)
{
    for (size_t i = 0; i < h->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &h->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && p->p_flags & PF_R && address - h->dlpi_addr >= p->p_vaddr &&
            address - h->dlpi_addr - p->p_vaddr < p->p_filesz)
            return p;
    }
    return NULL;
}

static const ElfW(Phdr) * unwind_part(const struct dl_phdr_info *h)
{
    for (size_t i = 0; i < h->dlpi_phnum; i++) {
        if (h->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME)
            return &h->dlpi_phdr[i];
    }
    return NULL;
}

/* .eh_frame is in the same part as .eh_frame_hdr: linkers put both into the read-only data. */
static void read_sections(const struct dl_phdr_info *h, struct ml_cfi_sections *ret)
{
    const ElfW(Phdr) *header = unwind_part(h);
    uintptr_t at = header ? h->dlpi_addr + header->p_vaddr : 0;
    const ElfW(Phdr) *part = header ? loaded_part(h, at) : NULL;

    if (!part || header->p_filesz > part->p_filesz - (header->p_vaddr - part->p_vaddr))
        return;
    *ret = (struct ml_cfi_sections){
        .header = at,
        .header_end = at + header->p_filesz,
        .loaded = h->dlpi_addr + part->p_vaddr,
        .loaded_end = h->dlpi_addr + part->p_vaddr + part->p_filesz,
    };
}

static bool read_object(const struct dl_phdr_info *h, uintptr_t address, struct ml_code_object *ret)
{
    const ElfW(Phdr) *code = loaded_part(h, address);

    if (!code)
        return false;
    *ret = (struct ml_code_object){
        .code = h->dlpi_addr + code->p_vaddr,
        .code_end = h->dlpi_addr + code->p_vaddr + code->p_filesz,
    };
    read_sections(h, &ret->cfi);
    return true;
}

/* ---- The loader -------------------------------------------------------------------- */

/* The kernel says where those of the program are. */
bool ml_code_object_program(struct dl_phdr_info *ret)
{
    *ret = (struct dl_phdr_info){
        .dlpi_addr = _r_debug.r_map->l_addr,
        .dlpi_name = "",
        .dlpi_phdr = (const ElfW(Phdr) *)getauxval(AT_PHDR),
        .dlpi_phnum = (ElfW(Half))getauxval(AT_PHNUM),
    };
    return ret->dlpi_phdr;
}

/* A library begins with its headers, at its base. */
static bool read_library(const struct link_map *library, struct dl_phdr_info *ret)
{
    const ElfW(Ehdr) *e = (const ElfW(Ehdr) *)library->l_addr;

    if (memcmp(e->e_ident, ELFMAG, SELFMAG) || e->e_phentsize != sizeof(ElfW(Phdr)) ||
        e->e_phoff + e->e_phnum * sizeof(ElfW(Phdr)) > HEADERS_MAX_BYTES)
        return false;
    *ret = (struct dl_phdr_info){
        .dlpi_addr = library->l_addr,
        .dlpi_name = library->l_name,
        .dlpi_phdr = (const ElfW(Phdr) *)(library->l_addr + e->e_phoff),
        .dlpi_phnum = e->e_phnum,
    };
    return true;
}

/* A library whose base is not where it begins is left out. */
bool ml_code_object_info(uintptr_t address, struct dl_phdr_info *ret)
{
    struct found_object found, base;

    if (!find_object || find_object((void *)address, &found))
        return false;
    if (found.link_map == _r_debug.r_map)
        return ml_code_object_program(ret);
    return !find_object((void *)found.link_map->l_addr, &base) && base.link_map == found.link_map &&
           read_library(found.link_map, ret);
}

bool ml_code_object_at(uintptr_t address, struct ml_code_object *ret)
{
    struct dl_phdr_info info;

    return ml_code_object_info(address, &info) && read_object(&info, address, ret);
}
