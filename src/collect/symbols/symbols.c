/* symbols.c: see symbols.h.
 *
 * Frames are sorted by file, so that each file is read once, however many
 * processes had it loaded.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "symbols.h"

#include <stdlib.h>
#include <string.h>

#include "elf_symbols.h"

struct place {
    uint32_t path; /* strings */
    uint32_t build_id;
    uint64_t address;
    uint32_t frame;
};

static int by_file_and_address(const void *left, const void *right)
{
    const struct place *a = left, *b = right;

    if (a->path != b->path)
        return a->path < b->path ? -1 : 1;
    if (a->build_id != b->build_id)
        return a->build_id < b->build_id ? -1 : 1;
    return (a->address > b->address) - (a->address < b->address);
}

/* Stands for the callers that the recorder could not find; see ML_STACK_ENDS_EARLY. */
static void name_early_end(struct ml_dict *dict)
{
    static const char name[] = "(stack ends early)";

    for (uint32_t i = 0; i < ml_dict_frames(dict); i++) {
        struct ml_dict_frame frame = ml_dict_frame_at(dict, i);
        if (frame.kind == ML_FRAME_NATIVE && !frame.where && !frame.what)
            ml_dict_symbol(dict, i, ml_dict_string(dict, name, sizeof(name) - 1));
    }
}

/* The frames in libraries, by file. Returns their number. */
static size_t gather(const struct ml_dict *dict, struct place *ret)
{
    size_t n = 0;

    for (uint32_t i = 0; i < ml_dict_frames(dict); i++) {
        struct ml_dict_frame frame = ml_dict_frame_at(dict, i);
        bool placed = frame.kind == ML_FRAME_NATIVE && frame.where;
        const struct ml_def *library =
            placed ? ml_dict_get(dict, ML_DEF_LIBRARY, (uint32_t)frame.where - 1) : NULL;
        if (library)
            ret[n++] =
                (struct place){(uint32_t)library->fields[ML_LIBRARY_PATH],
                               (uint32_t)library->fields[ML_LIBRARY_BUILD_ID], frame.what, i};
    }
    qsort(ret, n, sizeof(*ret), by_file_and_address);
    return n;
}

/* A symbol table may have "malloc@@GLIBC_2.2.5". */
static void define(void *ctx, const struct ml_elf_query *query)
{
    struct ml_stage *stage = ctx;
    size_t len = strlen(query->name);
    const char *version = memchr(query->name + 1, '@', len - 1);
    uint32_t function =
        ml_dict_string(stage->dict, query->name, version ? (size_t)(version - query->name) : len);

    ml_dict_symbol(stage->dict, query->tag, function);
    ml_trace_writer_relieve(stage->writer);
}

static void beat(void *ctx)
{
    ml_stage_beat(ctx);
}

/* A return address follows its call, which may be the last instruction of a function. */
static void name_file(struct ml_stage *stage, int root, const struct place *places, size_t n,
                      struct ml_elf_query *queries)
{
    for (size_t i = 0; i < n; i++)
        queries[i] =
            (struct ml_elf_query){.address = places[i].address - 1, .tag = places[i].frame};
    ml_stage_beat(stage);
    ml_elf_symbols(root, ml_dict_text(stage->dict, places->path),
                   ml_dict_text(stage->dict, places->build_id), queries, n, define, beat, stage);
}

void ml_symbols_define(struct ml_stage *stage, int root)
{
    uint32_t frames = ml_dict_frames(stage->dict);
    struct place *places = calloc(frames + 1, sizeof(*places));
    struct ml_elf_query *queries = calloc(frames + 1, sizeof(*queries));
    size_t n = places && queries ? gather(stage->dict, places) : 0;

    for (size_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && places[to].path == places[from].path &&
                            places[to].build_id == places[from].build_id;)
            to++;
        name_file(stage, root, places + from, to - from, queries);
    }
    free(queries);
    free(places);
    name_early_end(stage->dict);
}
