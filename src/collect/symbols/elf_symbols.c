/* elf_symbols.c: see elf_symbols.h.
 *
 * Files are not trusted: libelf checks what it reads against the file's size,
 * and reads rather than maps, so that a file that shrinks meanwhile is an error
 * and not a SIGBUS.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "elf_symbols.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "compiler.h"
#include "own_root.h"
#include "regular_file.h"

#define HERE (-1) /* the root of this process */
#define DEBUG_FILES "/usr/lib/debug/.build-id"
#define BUILD_ID_TEXT_MAX (ML_ELF_BUILD_ID_BYTES - 1)
#define SYMBOLS_PER_BEAT 4096u /* less than a millisecond's work */

/* Limits on a file's own figures, which may be false. The largest known files have a tenth. */
#define TABLE_BYTES_MAX ((uint64_t)512 << 20)
#define SECTIONS_MAX 65536u
#define NOTES_MAX 64u /* sections of them, and the bytes of one */
#define NOTE_BYTES_MAX (1u << 20)
#define NAME_BYTES_MAX (32u << 10)

struct elf_file {
    int fd;
    Elf *elf;
};

/* The state of one look-up. */
struct lookup {
    Elf *elf;
    struct ml_elf_query *queries;
    size_t n;
    void (*beat)(void *ctx);
    void *ctx;
};

/* ---- Files ----------------------------------------------------------------- */

static void close_file(struct elf_file *f)
{
    if (f->elf)
        elf_end(f->elf);
    if (f->fd >= 0)
        close(f->fd);
}

/* "": it is too long. */
static void put_hex(const uint8_t *bytes, size_t n, char ret[ML_ELF_BUILD_ID_BYTES])
{
    for (size_t i = 0; i < n && 2 * n <= BUILD_ID_TEXT_MAX; i++)
        snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
}

/* The build-id in the notes of one section. @return whether there is one */
static bool read_notes(Elf_Data *data, char ret[ML_ELF_BUILD_ID_BYTES])
{
    size_t at = 0, name, desc;
    GElf_Nhdr note;

    while (data && (at = gelf_getnote(data, at, &note, &name, &desc)) > 0) {
        const char *bytes = data->d_buf;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
            !memcmp(bytes + name, "GNU", 4)) {
            put_hex((const uint8_t *)bytes + desc, note.n_descsz, ret);
            return true;
        }
    }
    return false;
}

static void read_build_id(Elf *elf, char ret[ML_ELF_BUILD_ID_BYTES])
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    unsigned notes = 0;

    ret[0] = '\0';
    while (notes < NOTES_MAX && (section = elf_nextscn(elf, section))) {
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_NOTE ||
            header.sh_size > NOTE_BYTES_MAX)
            continue;
        notes++;
        if (read_notes(elf_getdata(section, NULL), ret))
            return;
    }
}

/* A file without a build-id matches one that was recorded without. */
static bool has_build_id(Elf *elf, const char *build_id)
{
    char found[ML_ELF_BUILD_ID_BYTES];

    read_build_id(elf, found);
    return !strcmp(found, build_id);
}

static bool is_elf(Elf *elf)
{
    size_t sections;

    return elf_kind(elf) == ELF_K_ELF && gelf_getclass(elf) == ELFCLASS64 &&
           !elf_getshdrnum(elf, &sections) && sections <= SECTIONS_MAX;
}

/* The target chose the path.
 * @root  as for ml_elf_symbols
 * @return a descriptor, or a negative number */
static int open_regular(int root, const char *path)
{
    return ml_regular_file_open(root >= 0 ? ml_root_open_file(root, path, O_PATH)
                                          : open(path, O_PATH | O_CLOEXEC),
                                O_RDONLY);
}

static bool open_elf(int root, const char *path, struct elf_file *ret)
{
    struct elf_file f = {.fd = open_regular(root, path)};

    if (f.fd >= 0 && elf_version(EV_CURRENT) != EV_NONE)
        f.elf = elf_begin(f.fd, ELF_C_READ, NULL);
    if (f.elf && is_elf(f.elf)) {
        *ret = f;
        return true;
    }
    close_file(&f);
    return false;
}

static bool open_file(int root, const char *path, const char *build_id, struct elf_file *ret)
{
    struct elf_file f;

    if (!open_elf(root, path, &f))
        return false;
    if (has_build_id(f.elf, build_id)) {
        *ret = f;
        return true;
    }
    close_file(&f);
    return false;
}

bool ml_elf_build_id(const char *path, char ret[ML_ELF_BUILD_ID_BYTES])
{
    struct elf_file f;

    if (!open_elf(HERE, path, &f))
        return false;
    read_build_id(f.elf, ret);
    close_file(&f);
    return true;
}

int ml_elf_open(const char *path, const char *build_id)
{
    struct elf_file f;
    int fd = -1;

    if (open_file(HERE, path, build_id, &f)) {
        fd = f.fd;
        f.fd = -1;
        close_file(&f);
    }
    return fd;
}

static bool open_debug_file(int root, const char *build_id, struct elf_file *ret)
{
    char path[sizeof(DEBUG_FILES) + BUILD_ID_TEXT_MAX + 16];

    if (strlen(build_id) < 3 || strlen(build_id) > BUILD_ID_TEXT_MAX ||
        build_id[strspn(build_id, "0123456789abcdef")])
        return false;
    snprintf(path, sizeof(path), DEBUG_FILES "/%.2s/%s.debug", build_id, build_id + 2);
    return (root >= 0 && open_file(root, path, build_id, ret)) ||
           open_file(HERE, path, build_id, ret);
}

static Elf_Scn *find_section(Elf *elf, uint32_t type, GElf_Shdr *ret)
{
    Elf_Scn *section = NULL;

    while ((section = elf_nextscn(elf, section))) {
        if (gelf_getshdr(section, ret) && ret->sh_type == type)
            return section;
    }
    return NULL;
}

/* NULL for a table that is too large or cannot be read. */
static Elf_Data *read_table(Elf_Scn *section)
{
    GElf_Shdr header;

    if (!section || !gelf_getshdr(section, &header) || header.sh_size > TABLE_BYTES_MAX)
        return NULL;
    return elf_getdata(section, NULL);
}

/* ---- Symbols ---------------------------------------------------------------- */

/* The first query at or after the address. */
static size_t first_from(const struct lookup *l, uint64_t address)
{
    size_t low = 0, high = l->n;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (l->queries[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The end of the code in a symbol's section, 0 if it has no code. */
static uint64_t code_end(Elf *elf, const GElf_Sym *symbol)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;

    if (symbol->st_shndx != SHN_UNDEF && symbol->st_shndx < SHN_LORESERVE)
        section = elf_getscn(elf, symbol->st_shndx);
    if (!section || !gelf_getshdr(section, &header) || !(header.sh_flags & SHF_EXECINSTR) ||
        symbol->st_value < header.sh_addr || symbol->st_value - header.sh_addr >= header.sh_size ||
        header.sh_size > UINT64_MAX - header.sh_addr)
        return 0;
    return header.sh_addr + header.sh_size;
}

/* No symbol extends beyond its section, whatever size it claims. */
static uint64_t end_of(Elf *elf, const GElf_Sym *symbol)
{
    uint64_t end = symbol->st_shndx < SHN_LORESERVE ? code_end(elf, symbol) : UINT64_MAX;

    if (end <= symbol->st_value || symbol->st_size > end - symbol->st_value)
        return end;
    return symbol->st_value + symbol->st_size;
}

static bool names_code(const GElf_Sym *symbol)
{
    unsigned type = GELF_ST_TYPE(symbol->st_info);

    return symbol->st_shndx != SHN_UNDEF && symbol->st_name &&
           (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE);
}

/* A symbol without a size extends to the next one: it is entered only at the first
 * query after it, and later queries take it over from there. */
static void offer_nearest(struct lookup *l, const GElf_Sym *symbol, size_t i)
{
    struct ml_elf_query *q = &l->queries[i];

    if (symbol->st_value < q->nearest || (symbol->st_value == q->nearest && q->nearest_end))
        return;
    q->nearest = symbol->st_value;
    q->nearest_end = symbol->st_size ? 0 : code_end(l->elf, symbol);
    q->nearest_name = symbol->st_name;
}

/* Node i of the tree has nodes 2i and 2i + 1 below it; the last n are the queries. */
static struct ml_elf_holder *node(struct lookup *l, size_t i)
{
    return i < l->n ? &l->queries[i].inner : &l->queries[i - l->n].leaf;
}

static void take_later(struct ml_elf_holder *best, const struct ml_elf_holder *other)
{
    if (!best->name || other->value > best->value ||
        (other->value == best->value && other->order < best->order))
        *best = *other;
}

/* For the queries from `low` to before `high`: at the few nodes that cover exactly
 * these. A table in which every symbol claims to contain every query takes
 * no longer than another. */
static void put(struct lookup *l, size_t low, size_t high, const struct ml_elf_holder *holder)
{
    for (low += l->n, high += l->n; low < high; low /= 2, high /= 2) {
        if (low % 2)
            take_later(node(l, low++), holder);
        if (high % 2)
            take_later(node(l, --high), holder);
    }
}

static struct ml_elf_holder holder_of(struct lookup *l, size_t i)
{
    struct ml_elf_holder best = {0};

    for (i += l->n; i; i /= 2) {
        if (node(l, i)->name)
            take_later(&best, node(l, i));
    }
    return best;
}

static void offer(struct lookup *l, const GElf_Sym *symbol, uint32_t order)
{
    size_t i = first_from(l, symbol->st_value);

    if (i == l->n)
        return;
    offer_nearest(l, symbol, i);
    if (l->queries[i].address - symbol->st_value < symbol->st_size)
        put(l, i, first_from(l, end_of(l->elf, symbol)),
            &(struct ml_elf_holder){symbol->st_value, symbol->st_name, order});
}

/* ---- Names -------------------------------------------------------------------- */

/* @return NULL for a name that is empty, or that no compiler makes */
static const char *name_at(const Elf_Data *names, uint32_t at)
{
    const char *name = (const char *)names->d_buf + at;

    if (at >= names->d_size || !*name)
        return NULL;
    return memchr(name, '\0', ml_min_u64(names->d_size - at, NAME_BYTES_MAX)) ? name : NULL;
}

/* If no function with a size contains an address, takes the last symbol before it. */
static void settle(struct lookup *l, const Elf_Data *names)
{
    for (size_t i = 0; i < l->n; i++) {
        struct ml_elf_query *q = &l->queries[i];
        uint32_t name = holder_of(l, i).name;

        if (i && l->queries[i - 1].nearest > q->nearest) {
            q->nearest = l->queries[i - 1].nearest;
            q->nearest_end = l->queries[i - 1].nearest_end;
            q->nearest_name = l->queries[i - 1].nearest_name;
        }
        if (!name && q->address < q->nearest_end)
            name = q->nearest_name;
        if (name)
            q->name = name_at(names, name);
        if (i % SYMBOLS_PER_BEAT == 0)
            l->beat(l->ctx);
    }
}

static void scan(struct lookup *l, Elf_Data *symbols)
{
    GElf_Sym symbol;

    for (uint32_t i = 0; gelf_getsym(symbols, (int)i, &symbol); i++) {
        if (i % SYMBOLS_PER_BEAT == 0)
            l->beat(l->ctx);
        if (names_code(&symbol))
            offer(l, &symbol, i);
    }
}

/* ---- All of it --------------------------------------------------------------- */

static bool scan_table(struct elf_file *f, uint32_t type, struct lookup *l)
{
    GElf_Shdr header;
    Elf_Scn *section = f->elf ? find_section(f->elf, type, &header) : NULL;
    Elf_Data *symbols = read_table(section);
    Elf_Data *names = symbols ? read_table(elf_getscn(f->elf, header.sh_link)) : NULL;

    if (!names || !names->d_buf || !symbols->d_buf)
        return false;
    l->elf = f->elf;
    scan(l, symbols);
    settle(l, names);
    return true;
}

void ml_elf_symbols(int root, const char *path, const char *build_id, struct ml_elf_query *queries,
                    size_t n, void (*found)(void *ctx, const struct ml_elf_query *query),
                    void (*beat)(void *ctx), void *ctx)
{
    struct lookup l = {NULL, queries, n, beat, ctx};
    struct elf_file file = {.fd = -1}, debug = {.fd = -1};

    if (path[0] != '/' || elf_version(EV_CURRENT) == EV_NONE ||
        !open_file(root, path, build_id, &file))
        return;
    if (!scan_table(&file, SHT_SYMTAB, &l) &&
        !(open_debug_file(root, build_id, &debug) && scan_table(&debug, SHT_SYMTAB, &l)))
        scan_table(&file, SHT_DYNSYM, &l);
    for (size_t i = 0; i < n; i++) {
        if (queries[i].name)
            found(ctx, &queries[i]);
    }
    close_file(&debug);
    close_file(&file);
}
