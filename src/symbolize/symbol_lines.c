/* symbol_lines.c: see code_file.h; functions from the symbol table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "code_file.h"
#include "elf_symbols.h"

struct names {
    const struct ml_code_search *search;
    const struct ml_symbol_place *places;
    bool any;
};

static void name_place(void *ctx, const struct ml_elf_query *query)
{
    struct names *n = ctx;
    struct ml_code_line line = {.function = query->name};

    n->search->found(n->search->ctx, &n->places[query->tag], &line);
    n->any = true;
}

static void nothing(void *ctx)
{
    (void)ctx;
}

static bool is_here(const char *path, const char *build_id)
{
    int fd = ml_elf_open(path, build_id);

    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

enum ml_symbol_depth ml_code_symbols(const struct ml_code_search *search,
                                     const struct ml_symbol_place *places, uint32_t count)
{
    struct names n = {search, places, false};
    struct ml_elf_query *queries = calloc(count, sizeof(*queries));
    char path[4096];

    snprintf(path, sizeof(path), "%s%s", search->sysroot ? search->sysroot : "", places->path);
    if (!queries || !is_here(path, places->build_id)) {
        free(queries);
        return ML_SYMBOLS_NO_FILE;
    }
    for (uint32_t i = 0; i < count; i++)
        queries[i] = (struct ml_elf_query){.address = places[i].address, .tag = i};
    ml_elf_symbols(-1, path, places->build_id, queries, count, name_place, nothing, &n);
    free(queries);
    return n.any ? ML_SYMBOLS_NAMES : ML_SYMBOLS_NONE;
}
