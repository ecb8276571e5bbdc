/* eval_loop.c: see eval_loop.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "eval_loop.h"

#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

#include "elf_symbols.h"

#define TABLE_BYTES_MAX ((uint64_t)64 << 20)
#define RANGES_MAX 1024u

/* Also its parts (`.cold`), and the functions that Python 3.14 may consist of instead. */
static bool is_eval(const char *name)
{
    return name && (strstr(name, "_PyEval_EvalFrameDefault") ||
                    strncmp(name, "_TAIL_CALL_", strlen("_TAIL_CALL_")) == 0);
}

static void read_table(struct ml_eval_loop *loop, Elf *elf, Elf_Scn *section,
                       const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t count = data && header->sh_entsize ? header->sh_size / header->sh_entsize : 0;
    GElf_Sym symbol;

    for (size_t i = 0; i < count && i < INT32_MAX && loop->ranges.len < RANGES_MAX; i++) {
        if (!gelf_getsym(data, (int)i, &symbol) || symbol.st_shndx == SHN_UNDEF ||
            !symbol.st_size || !is_eval(elf_strptr(elf, header->sh_link, symbol.st_name)))
            continue;
        if (ml_vec_push(&loop->ranges, ((struct ml_eval_range){
                                           symbol.st_value, symbol.st_value + symbol.st_size})) < 0)
            return;
    }
}

void ml_eval_loop_read(struct ml_eval_loop *loop, const char *path)
{
    char build_id[ML_ELF_BUILD_ID_BYTES];
    int fd = ml_elf_build_id(path, build_id) ? ml_elf_open(path, build_id) : -1;
    Elf *elf = fd >= 0 ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
    Elf_Scn *section = NULL;
    GElf_Shdr header;

    while (elf && (section = elf_nextscn(elf, section)))
        if (gelf_getshdr(section, &header) && header.sh_size <= TABLE_BYTES_MAX &&
            (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
            read_table(loop, elf, section, &header);
    if (elf)
        elf_end(elf);
    if (fd >= 0)
        close(fd);
}

void ml_eval_loop_release(struct ml_eval_loop *loop)
{
    ml_vec_release(&loop->ranges);
}

bool ml_eval_loop_has(const struct ml_eval_loop *loop, uint64_t address)
{
    for (size_t i = 0; i < loop->ranges.len; i++)
        if (address >= loop->ranges.items[i].begin && address < loop->ranges.items[i].end)
            return true;
    return false;
}
