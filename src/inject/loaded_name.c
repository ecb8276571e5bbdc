/* loaded_name.c: see loaded_name.h. The loader keeps its list for debuggers, in struct r_debug.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "loaded_name.h"

#include <fcntl.h>
#include <gelf.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "compiler.h"
#include "mapped_file.h"
#include "traced_thread.h"

#define LIBRARIES_MAX 10000 /* the list may be changing, or broken */
#define NAME_STEP 256

static bool is_loader(const char *path)
{
    const char *name = strrchr(path, '/') + 1;

    return !strncmp(name, "ld-linux", 8) || !strncmp(name, "ld-2.", 5) ||
           !strncmp(name, "ld.so", 5);
}

/* @return the value of the loader's symbol; 0: it has none */
static uint64_t find_in(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, const char *wanted)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t count = data && header->sh_entsize ? header->sh_size / header->sh_entsize : 0;

    for (size_t i = 0; i < count; i++) {
        GElf_Sym symbol;
        const char *name;

        if (!gelf_getsym(data, (int)i, &symbol) || !symbol.st_value)
            continue;
        name = elf_strptr(elf, header->sh_link, symbol.st_name);
        if (name && !strcmp(name, wanted))
            return symbol.st_value;
    }
    return 0;
}

static uint64_t list_in_loader(pid_t pid, const struct ml_mapping *loader)
{
    int fd = ml_mapped_file_open(pid, loader, O_RDONLY);
    Elf_Scn *section = NULL;
    uint64_t value = 0;
    Elf *elf;

    if (fd < 0)
        return 0;
    elf = elf_version(EV_CURRENT) != EV_NONE ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
    while (elf && !value && (section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_DYNSYM)
            value = find_in(elf, section, &header, "_r_debug");
    }
    elf_end(elf);
    close(fd);
    return value ? loader->begin + value : 0;
}

struct list_search {
    pid_t pid;
    uint64_t list;
};

static bool has_list(const struct ml_mapping *m, void *context)
{
    struct list_search *s = context;

    s->list = m->path && !m->offset && is_loader(m->path) ? list_in_loader(s->pid, m) : 0;
    return s->list != 0;
}

/* The address of the loader's list; 0: not found. */
static uint64_t find_list(pid_t pid)
{
    struct list_search s = {.pid = pid};

    ml_mappings_visit(pid, has_list, &s);
    return s.list;
}

/* In steps: what follows the name may not be readable. */
static bool read_name(pid_t pid, uint64_t at, char *ret, size_t room)
{
    for (size_t have = 0; have + 1 < room;) {
        size_t step = ml_min_u64(NAME_STEP - at % NAME_STEP, room - 1 - have);

        if (!ml_traced_read(pid, at, ret + have, step))
            return false;
        if (memchr(ret + have, '\0', step))
            return true;
        have += step;
        at += step;
    }
    return false;
}

bool ml_loaded_name_find(pid_t pid, const char *begin, char *ret, size_t room)
{
    uint64_t list = find_list(pid);
    struct r_debug debug;
    struct link_map map;
    uint64_t at;

    if (!list || !ml_traced_read(pid, list, &debug, sizeof(debug)))
        return false;
    at = (uint64_t)(uintptr_t)debug.r_map;
    for (int i = 0; at && i < LIBRARIES_MAX; i++) {
        const char *slash;

        if (!ml_traced_read(pid, at, &map, sizeof(map)))
            return false;
        if (read_name(pid, (uint64_t)(uintptr_t)map.l_name, ret, room)) {
            slash = strrchr(ret, '/');
            if (slash && !strncmp(slash + 1, begin, strlen(begin)))
                return true;
        }
        at = (uint64_t)(uintptr_t)map.l_next;
    }
    return false;
}
