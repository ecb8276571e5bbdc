/* build_id.c: see build_id.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "build_id.h"

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static bool is_loaded(const struct dl_phdr_info *info, const ElfW(Phdr) * part)
{
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && p->p_flags & PF_R && part->p_vaddr >= p->p_vaddr &&
            part->p_vaddr + part->p_filesz <= p->p_vaddr + p->p_filesz)
            return true;
    }
    return false;
}

static void put_digits(const uint8_t *bytes, size_t n, char *ret)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < n; i++) {
        ret[2 * i] = digits[bytes[i] >> 4];
        ret[2 * i + 1] = digits[bytes[i] & 15];
    }
    ret[2 * n] = '\0';
}

/* The build-id among the notes from `at` to `end`. */
static bool find_in(const uint8_t *at, const uint8_t *end, size_t align, char *ret)
{
    while ((size_t)(end - at) >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) note;
        size_t name, total;

        memcpy(&note, at, sizeof(note));
        name = (sizeof(note) + note.n_namesz + align - 1) / align * align;
        total = (name + note.n_descsz + align - 1) / align * align;
        if (name + note.n_descsz > (size_t)(end - at))
            break;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
            !memcmp(at + sizeof(note), "GNU", 4) && note.n_descsz <= ML_BUILD_ID_MAX_BYTES) {
            put_digits(at + name, note.n_descsz, ret);
            return true;
        }
        at += total < (size_t)(end - at) ? total : (size_t)(end - at);
    }
    return false;
}

bool ml_build_id(const struct dl_phdr_info *info, char ret[ML_BUILD_ID_TEXT_BYTES])
{
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        const uint8_t *at = (const uint8_t *)(info->dlpi_addr + p->p_vaddr);
        if (p->p_type == PT_NOTE && is_loaded(info, p) &&
            find_in(at, at + p->p_filesz, p->p_align == 8 ? 8 : 4, ret))
            return true;
    }
    return false;
}
