/* test_elf_hostile.c: symbol tables crafted to cost as much as possible. SIGALRM ends the
 * program if they do.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf_symbols.h"
#include "io.h"

#define MOST_SECONDS 15 /* a hundred times what is needed */
#define SYMBOLS 200000u
#define CODE 0x1000u
#define APART 16u
#define NAME_BYTES 8u

enum { NO_SECTION, CODE_SECTION, SYMBOL_SECTION, NAME_SECTION, SECTIONS };

struct file {
    Elf64_Ehdr header;
    Elf64_Shdr sections[SECTIONS];
    Elf64_Sym symbols[SYMBOLS];
    char names[(SYMBOLS + 1) * NAME_BYTES];
};

static struct file *file;
static char path[] = "/tmp/test_elf_hostile-XXXXXX";
static int fd;
static struct ml_elf_query *queries;
static unsigned found, wrong;

/* Each function claims everything that follows, and begins inside of all before. */
static void make_symbols(void)
{
    for (unsigned i = 0; i < SYMBOLS; i++) {
        uint32_t name = (i + 1) * NAME_BYTES;

        file->symbols[i] = (Elf64_Sym){.st_name = name,
                                       .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                                       .st_shndx = CODE_SECTION,
                                       .st_value = CODE + i * APART,
                                       .st_size = UINT64_MAX};
        snprintf(file->names + name, NAME_BYTES, "f%06u", i);
    }
}

static void make_sections(void)
{
    file->sections[CODE_SECTION] = (Elf64_Shdr){.sh_type = SHT_NOBITS,
                                                .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                                                .sh_addr = CODE,
                                                .sh_size = SYMBOLS * APART};
    file->sections[SYMBOL_SECTION] = (Elf64_Shdr){.sh_type = SHT_SYMTAB,
                                                  .sh_offset = offsetof(struct file, symbols),
                                                  .sh_size = sizeof(file->symbols),
                                                  .sh_link = NAME_SECTION,
                                                  .sh_entsize = sizeof(Elf64_Sym)};
    file->sections[NAME_SECTION] = (Elf64_Shdr){.sh_type = SHT_STRTAB,
                                                .sh_offset = offsetof(struct file, names),
                                                .sh_size = sizeof(file->names)};
}

static int make_file(void **state)
{
    (void)state;
    file = calloc(1, sizeof(*file));
    queries = calloc(SYMBOLS, sizeof(*queries));
    fd = mkstemp(path);
    if (!file || !queries || fd < 0)
        return -1;
    memcpy(file->header.e_ident, ELFMAG, SELFMAG);
    file->header.e_ident[EI_CLASS] = ELFCLASS64;
    file->header.e_ident[EI_DATA] = ELFDATA2LSB;
    file->header.e_ident[EI_VERSION] = EV_CURRENT;
    file->header.e_type = ET_DYN;
    file->header.e_machine = EM_X86_64;
    file->header.e_version = EV_CURRENT;
    file->header.e_ehsize = sizeof(file->header);
    file->header.e_shoff = offsetof(struct file, sections);
    file->header.e_shentsize = sizeof(file->sections[0]);
    file->header.e_shnum = SECTIONS;
    make_sections();
    make_symbols();
    return 0;
}

static int remove_file(void **state)
{
    (void)state;
    close(fd);
    free(queries);
    free(file);
    return unlink(path);
}

static void check_name(void *ctx, const struct ml_elf_query *query)
{
    char wanted[NAME_BYTES + 8];

    (void)ctx;
    snprintf(wanted, sizeof(wanted), "f%06u", query->tag);
    found++;
    wrong += strcmp(query->name, wanted) != 0;
}

static void no_beat(void *ctx)
{
    (void)ctx;
}

/* One query in each function, each named after it. */
static void look_up(uint64_t offset)
{
    found = wrong = 0;
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    assert_int_equal(ml_write_all(fd, file, sizeof(*file)), 0);
    for (unsigned i = 0; i < SYMBOLS; i++)
        queries[i] = (struct ml_elf_query){.address = CODE + i * APART + offset, .tag = i};
    alarm(MOST_SECONDS);
    ml_elf_symbols(-1, path, "", queries, SYMBOLS, check_name, no_beat, NULL);
    alarm(0);
}

static void functions_that_claim_everything(void **state)
{
    (void)state;
    look_up(1);
    assert_int_equal(found, SYMBOLS);
    assert_int_equal(wrong, 0);
}

/* None reaches beyond the section that it is in, not even to the queries there. */
static void nothing_is_behind_the_end(void **state)
{
    (void)state;
    look_up(SYMBOLS * APART);
    assert_int_equal(found, 0);
}

static void many_in_the_last(void **state)
{
    Elf64_Shdr *code = &file->sections[CODE_SECTION];

    (void)state;
    code->sh_size *= 4;
    look_up(SYMBOLS * APART);
    code->sh_size /= 4;
    assert_int_equal(found, SYMBOLS);
    assert_int_equal(wrong, SYMBOLS - 1); /* all are of the last one */
}

/* The file has them, and they are empty. */
static void tables_beyond_all_measure(void **state)
{
    static const int tables[] = {SYMBOL_SECTION, NAME_SECTION};

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        Elf64_Shdr *table = &file->sections[tables[i]];
        uint64_t bytes = table->sh_size;

        table->sh_size = (uint64_t)1 << 36;
        look_up(1);
        assert_int_equal(ftruncate(fd, (off_t)1 << 37), 0);
        found = 0;
        alarm(MOST_SECONDS);
        ml_elf_symbols(-1, path, "", queries, SYMBOLS, check_name, no_beat, NULL);
        alarm(0);
        assert_int_equal(found, 0);
        table->sh_size = bytes;
    }
}

/* A name as long as the table would be taken for each query. */
static void names_without_an_end(void **state)
{
    (void)state;
    memset(file->names + 1, 'x', sizeof(file->names) - 1);
    look_up(1);
    assert_int_equal(found, 0);
    make_symbols();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_that_claim_everything),
        cmocka_unit_test(nothing_is_behind_the_end),
        cmocka_unit_test(many_in_the_last),
        cmocka_unit_test(tables_beyond_all_measure),
        cmocka_unit_test(names_without_an_end),
    };

    return cmocka_run_group_tests(tests, make_file, remove_file);
}
