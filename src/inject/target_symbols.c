/* target_symbols.c: see target_symbols.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "target_symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

#include "mapped_file.h"

static const char *const names[ML_TARGET_FUNCTIONS] = {
    [ML_TARGET_DLOPEN] = "dlopen",
    [ML_TARGET_DLSYM] = "dlsym",
    [ML_TARGET_DLERROR] = "dlerror",
    [ML_TARGET_PTHREAD_CREATE] = "pthread_create",
    [ML_TARGET_PTHREAD_SELF] = "pthread_self",
    [ML_TARGET_PTHREAD_DETACH] = "pthread_detach",
    [ML_TARGET_ERRNO_LOCATION] = "__errno_location",
    [ML_TARGET_SYSCALL] = "syscall",
};

/* One file before glibc 2.34, three then. */
static bool is_of_libc(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;

    return !strncmp(name, "libc.so.6", 9) || !strncmp(name, "libc-2.", 7) ||
           !strncmp(name, "libpthread", 10) || !strncmp(name, "libdl.so", 8) ||
           !strncmp(name, "libdl-2.", 8);
}

static void take_symbols(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, uint64_t base,
                         struct ml_target_symbols *ret)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t count = data && header->sh_entsize ? header->sh_size / header->sh_entsize : 0;

    for (size_t i = 0; i < count; i++) {
        GElf_Sym symbol;
        const char *name;

        if (!gelf_getsym(data, (int)i, &symbol) || !symbol.st_value ||
            GELF_ST_TYPE(symbol.st_info) != STT_FUNC)
            continue;
        name = elf_strptr(elf, header->sh_link, symbol.st_name);
        for (int f = 0; name && f < ML_TARGET_FUNCTIONS; f++)
            if (!strcmp(name, names[f]) && !ret->at[f])
                ret->at[f] = base + symbol.st_value;
    }
}

static void read_file(pid_t pid, const struct ml_mapping *mapping, struct ml_target_symbols *ret)
{
    int fd = ml_mapped_file_open(pid, mapping, O_RDONLY);
    Elf_Scn *section = NULL;
    Elf *elf;

    if (fd < 0)
        return;
    elf = elf_version(EV_CURRENT) != EV_NONE ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
    while (elf && (section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_DYNSYM)
            take_symbols(elf, section, &header, mapping->begin, ret);
    }
    elf_end(elf);
    close(fd);
}

struct search {
    pid_t pid;
    size_t mappings; /* 0: the process has ended */
    bool musl;
    struct ml_target_symbols *symbols;
};

static bool take_mapping(const struct ml_mapping *m, void *context)
{
    struct search *s = context;

    s->mappings++;
    if (!m->path)
        return false;
    s->musl = s->musl || strstr(m->path, "/ld-musl");
    if (!m->offset && is_of_libc(m->path)) /* the first part of a library is its base */
        read_file(s->pid, m, s->symbols);
    return false;
}

int ml_target_symbols_find(pid_t pid, struct ml_target_symbols *ret, struct ml_error *err)
{
    struct search s = {.pid = pid, .symbols = ret};
    int r;

    *ret = (struct ml_target_symbols){0};
    r = ml_mappings_visit(pid, take_mapping, &s);
    if (r < 0)
        return ml_error_set(err, r, "cannot read /proc/%d/maps: %s", (int)pid, strerror(-r));
    if (!s.mappings)
        return ml_error_set(err, -ESRCH, "process %d has ended", (int)pid);
    if (s.musl)
        return ml_error_set(err, -ENOEXEC,
                            "process %d uses musl; memledger records programs that use glibc",
                            (int)pid);
    for (int f = 0; f < ML_TARGET_FUNCTIONS; f++) {
        if (!ret->at[f] && !ret->at[ML_TARGET_ERRNO_LOCATION])
            return ml_error_set(err, -ENOEXEC,
                                "process %d is linked statically: no recorder can be loaded into "
                                "it",
                                (int)pid);
        if (!ret->at[f])
            return ml_error_set(err, -ENOEXEC,
                                "process %d has no %s, which libc has since glibc 2.34; start it "
                                "with memledger run instead",
                                (int)pid, names[f]);
    }
    return 0;
}
