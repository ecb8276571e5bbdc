/* got_slots.c: see got_slots.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "got_slots.h"

#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "compiler.h"
#include "filtered.h"
#include "page_protection.h"

struct symbols {
    const ElfW(Sym) * table;
    const char *names;
};

void ml_elf_object_survey(const struct dl_phdr_info *info, struct ml_elf_object *o)
{
    *o = (struct ml_elf_object){.base = info->dlpi_addr, .begin = UINTPTR_MAX};
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t begin = o->base + part->p_vaddr;
        uintptr_t end = begin + part->p_memsz;

        if (part->p_type == PT_DYNAMIC) {
            o->dynamic = (const void *)begin;
        } else if (part->p_type == PT_GNU_RELRO) {
            /* Whole pages only, as libc does it. */
            o->relro_begin = begin & ~(ML_PAGE_BYTES - 1);
            o->relro_end = end & ~(ML_PAGE_BYTES - 1);
        } else if (part->p_type == PT_LOAD) {
            o->begin = ml_min_u64(o->begin, begin);
            o->end = ml_max_u64(o->end, end);
        }
    }
}

/* ---- One word -------------------------------------------------------------- */

static long protection_of(struct ml_elf_object *o, uintptr_t page)
{
    if (page != o->page) {
        o->page = page;
        o->page_protection = ml_page_protection(page);
    }
    return o->page_protection;
}

static int protect(uintptr_t page, long how)
{
    return (int)syscall(SYS_mprotect, page, ML_PAGE_BYTES, how);
}

static bool is_sealed(const struct ml_elf_object *o, uintptr_t at)
{
    return at >= o->relro_begin && at < o->relro_end;
}

static uintptr_t put(struct ml_elf_object *o, uintptr_t at, uintptr_t was, void *value)
{
    uintptr_t page = at & ~(ML_PAGE_BYTES - 1);
    long protection = protection_of(o, page);
    bool closed = !(protection & PROT_WRITE);

    if (protection == ML_PAGE_UNKNOWN || (closed && !is_sealed(o, at)) ||
        (closed && protect(page, protection | PROT_WRITE)))
        return was;
    __atomic_compare_exchange_n((uintptr_t *)at, &was, (uintptr_t)value, false, __ATOMIC_RELEASE,
                                __ATOMIC_RELAXED);
    if (closed)
        protect(page, protection);
    return was;
}

uintptr_t ml_elf_object_put(struct ml_elf_object *o, uintptr_t at, uintptr_t was, void *value)
{
    if (!ml_calls_begin())
        return was;
    was = put(o, at, was, value);
    ml_calls_end();
    return was;
}

void ml_elf_object_redirect(struct ml_elf_object *o, const struct ml_slot *slot, const void *real,
                            void *hook)
{
    uintptr_t to = __atomic_load_n((uintptr_t *)slot->at, __ATOMIC_RELAXED);

    while ((real && to == (uintptr_t)real) || (to >= o->begin && to < o->end)) {
        uintptr_t was = ml_elf_object_put(o, slot->at, to, hook);
        if (was == to)
            break;
        to = was;
    }
}

/* ---- Tables ------------------------------------------------------------------ */

static void visit_table(struct ml_elf_object *o, const struct symbols *symbols,
                        const ElfW(Rela) * slots, size_t bytes, ml_slot_visitor *visit,
                        void *context)
{
    for (size_t i = 0; i < bytes / sizeof(*slots); i++) {
        const ElfW(Sym) *symbol = &symbols->table[ELF64_R_SYM(slots[i].r_info)];
        unsigned type = ELF64_R_TYPE(slots[i].r_info);

        if (type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT)
            visit(o,
                  &(struct ml_slot){o->base + slots[i].r_offset, symbols->names + symbol->st_name,
                                    symbol->st_shndx != SHN_UNDEF},
                  context);
    }
}

/* The loader has added the base to the addresses in most dynamic sections. */
static uintptr_t address_in(const struct ml_elf_object *o, ElfW(Addr) value)
{
    return value < o->base ? o->base + value : value;
}

void ml_elf_object_each_slot(struct ml_elf_object *o, ml_slot_visitor *visit, void *context)
{
    struct symbols symbols = {0};
    uintptr_t plt = 0, rela = 0;
    size_t plt_bytes = 0, rela_bytes = 0;

    for (const ElfW(Dyn) *d = o->dynamic; d && d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_SYMTAB)
            symbols.table = (const void *)address_in(o, d->d_un.d_ptr);
        else if (d->d_tag == DT_STRTAB)
            symbols.names = (const void *)address_in(o, d->d_un.d_ptr);
        else if (d->d_tag == DT_JMPREL)
            plt = address_in(o, d->d_un.d_ptr);
        else if (d->d_tag == DT_PLTRELSZ)
            plt_bytes = d->d_un.d_val;
        else if (d->d_tag == DT_RELA)
            rela = address_in(o, d->d_un.d_ptr);
        else if (d->d_tag == DT_RELASZ)
            rela_bytes = d->d_un.d_val;
    }
    if (!symbols.table || !symbols.names)
        return;
    if (plt)
        visit_table(o, &symbols, (const void *)plt, plt_bytes, visit, context);
    if (rela)
        visit_table(o, &symbols, (const void *)rela, rela_bytes, visit, context);
}
