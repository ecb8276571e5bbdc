/* symbolize.c: see symbolize.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "symbolize.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "block.h"
#include "defs.h"
#include "intern.h"
#include "readable_name.h"
#include "section_write.h"
#include "symbol_places.h"
#include "symbol_workers.h"

#ifdef ML_LIBDW_VERSION
#define READER "libdw " ML_LIBDW_VERSION
#else
#define READER "symbol tables"
#endif

/* A function of a frame, ready to be written. */
struct symbol {
    uint32_t frame, order;       /* of the same frame, from 0 */
    const char *function, *file; /* NULL: unknown */
    uint32_t line;
};

struct work {
    const struct ml_trace *trace;
    struct ml_symbol_places places;
    struct ml_symbol_rows rows;
    ML_VEC(struct symbol) symbols;
    ML_VEC(char *) names;   /* owned */
    struct ml_intern texts; /* of the section, numbered from 0 */
    struct ml_buf section;
    struct ml_symbolized *ret;
};

bool ml_symbolize_reads_lines(void)
{
#ifdef ML_LIBDW_VERSION
    return true;
#else
    return false;
#endif
}

/* ---- Symbols by frame ------------------------------------------------------- */

static const char *text_at(const struct work *w, uint32_t offset)
{
    return offset ? (const char *)w->rows.texts.data + offset : NULL;
}

static int by_frame(const void *left, const void *right)
{
    const struct symbol *a = left, *b = right;

    if (a->frame != b->frame)
        return a->frame < b->frame ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

static int add_rows(struct work *w)
{
    for (uint32_t i = 0; i < w->rows.list.len; i++) {
        const struct ml_symbol_row *row = &w->rows.list.items[i];

        if (row->place >= w->places.list.len)
            continue;
        if (ml_vec_push(&w->symbols, (struct symbol){
                                         .frame = w->places.list.items[row->place].frame,
                                         .order = i,
                                         .function = text_at(w, row->function),
                                         .file = text_at(w, row->file),
                                         .line = row->line,
                                     }))
            return -ENOMEM;
    }
    ml_vec_sort(&w->symbols, by_frame);
    return 0;
}

/* The recorded name, for frames that no worker named. */
static int add_readable(struct work *w, uint32_t frame)
{
    uint32_t function = ml_trace_frame(w->trace, frame)->function;
    char *name = function ? ml_readable_name(ml_trace_string(w->trace, function, NULL)) : NULL;

    w->ret->named += function != 0;
    if (!name)
        return 0;
    if (ml_vec_push(&w->names, name)) {
        free(name);
        return -ENOMEM;
    }
    return ml_vec_push(&w->symbols, (struct symbol){.frame = frame, .function = name});
}

static bool has_symbol(const struct work *w, size_t symbols, uint32_t frame)
{
    const struct symbol wanted = {.frame = frame};
    size_t low = 0, high = symbols;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (by_frame(&w->symbols.items[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < symbols && w->symbols.items[low].frame == frame;
}

static int add_others(struct work *w)
{
    size_t found = w->symbols.len;
    int r = 0;

    for (uint32_t i = 0; r == 0 && i < ml_trace_frames(w->trace); i++) {
        if (ml_trace_frame(w->trace, i)->kind == ML_FRAME_NATIVE && !has_symbol(w, found, i))
            r = add_readable(w, i);
    }
    ml_vec_sort(&w->symbols, by_frame);
    return r;
}

/* ---- The section ------------------------------------------------------------ */

static int put_record(struct work *w, const struct ml_def *def)
{
    uint8_t *end;

    if (ml_buf_reserve(&w->section, ml_def_room(def) + def->len))
        return -ENOMEM;
    end = ml_def_put(w->section.data + w->section.len, def);
    w->section.len = (size_t)(end - w->section.data);
    return 0;
}

/* The number of a text in the section; its record is written before its first use. */
static int64_t put_text(struct work *w, const char *text)
{
    struct ml_def def = {.tag = ML_DEF_STRING, .bytes = text};
    bool is_new = false;
    int64_t number;

    if (!text)
        return 0;
    def.len = (uint32_t)strnlen(text, ML_STRING_MAX_BYTES);
    number = ml_intern_put(&w->texts, text, def.len, &is_new);
    if (number < 0)
        return number;
    def.id = (uint32_t)number + 1;
    return is_new && put_record(w, &def) ? -ENOMEM : (int64_t)def.id;
}

static int put_symbol(struct work *w, const struct symbol *symbol)
{
    int64_t function = put_text(w, symbol->function), file = put_text(w, symbol->file);
    struct ml_def def = {.tag = ML_DEF_SYMBOL, .id = symbol->frame};

    if (function < 0 || file < 0)
        return -ENOMEM;
    def.fields[ML_SYMBOL_FUNCTION] = (uint64_t)function;
    def.fields[ML_SYMBOL_FILE] = (uint64_t)file;
    def.fields[ML_SYMBOL_LINE] = symbol->line;
    return put_record(w, &def);
}

static int put_setting(struct work *w, const char *key, const char *value)
{
    int64_t key_text = put_text(w, key), value_text = put_text(w, value);
    struct ml_def def = {.tag = ML_DEF_CONFIG, .id = (uint32_t)key_text};

    if (key_text < 0 || value_text < 0)
        return -ENOMEM;
    def.fields[ML_CONFIG_VALUE] = (uint64_t)value_text;
    return put_record(w, &def);
}

static void count_symbols(struct work *w)
{
    const struct symbol *before = NULL;

    for (size_t i = 0; i < w->symbols.len; i++) {
        const struct symbol *symbol = &w->symbols.items[i];
        bool first = !before || before->frame != symbol->frame;

        w->ret->named += first && symbol->function;
        w->ret->lines += first && symbol->line > 0;
        w->ret->inlined += !first;
        before = symbol;
    }
}

static int put_section(struct work *w)
{
    int r = put_setting(w, "symbols.reader", READER);

    for (size_t i = 0; r == 0 && i < w->symbols.len; i++)
        r = put_symbol(w, &w->symbols.items[i]);
    return r;
}

/* ---- Libraries -------------------------------------------------------------- */

static int most_frames_first(const void *left, const void *right)
{
    const struct ml_symbolized_library *a = left, *b = right;

    if (a->frames != b->frames)
        return a->frames < b->frames ? 1 : -1;
    return strcmp(a->path, b->path);
}

static int list_libraries(struct work *w)
{
    for (size_t i = 0; i < w->places.list.len; i++) {
        const struct ml_symbol_place *place = &w->places.list.items[i];
        struct ml_symbolized_library library = {.found = w->rows.found.items[place->file]};

        if (place->file < w->ret->libraries.len) {
            w->ret->libraries.items[place->file].frames++;
            continue;
        }
        library.frames = 1;
        library.path = strdup(place->path);
        library.build_id = strdup(place->build_id);
        if (!library.path || !library.build_id || ml_vec_push(&w->ret->libraries, library)) {
            free(library.path);
            free(library.build_id);
            return -ENOMEM;
        }
    }
    ml_vec_sort(&w->ret->libraries, most_frames_first);
    return 0;
}

void ml_symbolized_release(struct ml_symbolized *symbolized)
{
    for (size_t i = 0; i < symbolized->libraries.len; i++) {
        free(symbolized->libraries.items[i].path);
        free(symbolized->libraries.items[i].build_id);
    }
    ml_vec_release(&symbolized->libraries);
}

/* ---- All of it -------------------------------------------------------------- */

static void release(struct work *w)
{
    for (size_t i = 0; i < w->names.len; i++)
        free(w->names.items[i]);
    ml_vec_release(&w->names);
    ml_vec_release(&w->symbols);
    ml_symbol_rows_release(&w->rows);
    ml_symbol_places_release(&w->places);
    ml_intern_release(&w->texts);
    ml_buf_release(&w->section);
}

static int look_up(struct work *w, const struct ml_symbolize_opts *opts)
{
    int r = ml_symbol_places(w->trace, &w->places);

    w->ret->frames = (uint32_t)w->places.list.len;
    if (r == 0)
        r = ml_symbol_workers(&w->places, opts, &w->rows);
    if (r == 0)
        r = list_libraries(w);
    if (r == 0)
        r = add_rows(w);
    if (r == 0)
        count_symbols(w);
    if (r == 0)
        r = add_others(w);
    return r < 0 ? r : put_section(w);
}

int ml_symbolize(const char *path, const struct ml_symbolize_opts *opts, struct ml_symbolized *ret,
                 struct ml_error *err)
{
    const struct ml_trace_opts recorded = {.without_symbols = true, .no_option = true};
    struct ml_trace *trace = NULL;
    struct work w = {.ret = ret};
    struct stat st;
    int r;

    *ret = (struct ml_symbolized){0};
    r = ml_trace_open(path, &recorded, &trace, err);
    if (r < 0)
        return r;
    w.trace = trace;
    r = look_up(&w, opts);
    if (r < 0)
        ml_error_set(err, r, "%s: cannot look up its functions: %s", path, strerror(-r));
    else if (w.symbols.len > 0)
        r = ml_trace_put_section(trace, ML_BLOCK_SYMBOLS, w.section.data, w.section.len, err);
    if (r == 0 && stat(path, &st) == 0)
        ret->file_bytes = (uint64_t)st.st_size;
    release(&w);
    ml_trace_free(trace);
    return r;
}
