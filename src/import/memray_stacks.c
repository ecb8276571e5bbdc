/* memray_stacks.c: see memray_stacks.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "memray_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "elf_symbols.h"
#include "python_lines.h"

int ml_memray_stacks_init(struct ml_memray_stacks *s, const struct ml_memray_file *file,
                          struct ml_import_sink *sink, uint32_t process)
{
    *s = (struct ml_memray_stacks){.file = file, .sink = sink, .process = process};
    if (ml_vec_push(&s->nodes, (struct ml_memray_node){0}) < 0 ||
        ml_vec_push(&s->maps, (struct ml_memray_maps){0}) < 0)
        return -ENOMEM;
    return 0;
}

void ml_memray_stacks_release(struct ml_memray_stacks *s)
{
    struct ml_intern *keys[] = {&s->frame_keys, &s->node_keys, &s->library_keys, &s->stack_keys,
                                &s->native_keys};

    for (size_t i = 0; i < ML_ARRAY_SIZE(keys); i++)
        ml_intern_release(keys[i]);
    for (size_t i = 0; i < s->libraries.len; i++)
        ml_eval_loop_release(&s->libraries.items[i].loop);
    ml_map_release(&s->codes);
    ml_map_release(&s->frame_numbers);
    ml_buf_release(&s->tables);
    ml_vec_release(&s->code);
    ml_vec_release(&s->frames);
    ml_vec_release(&s->nodes);
    ml_vec_release(&s->natives);
    ml_vec_release(&s->libraries);
    ml_vec_release(&s->segments);
    ml_vec_release(&s->maps);
    ml_vec_release(&s->stacks);
    ml_vec_release(&s->native_frame);
    ml_vec_release(&s->python);
    ml_vec_release(&s->path);
    ml_vec_release(&s->merged);
}

static uint32_t string_of(struct ml_memray_stacks *s, const char *text)
{
    size_t len = strlen(text);

    return ml_dict_string(&s->sink->dict, text,
                          len < ML_STRING_MAX_BYTES ? len : ML_STRING_MAX_BYTES);
}

/* ---- Python frames ------------------------------------------------------------------ */

static int add_code(struct ml_memray_stacks *s, const struct ml_memray_record *r)
{
    struct ml_memray_code code = {.name = string_of(s, r->name),
                                  .file = string_of(s, r->file),
                                  .first_line = r->line,
                                  .table = s->tables.len,
                                  .table_len = r->table_len};

    if (ml_buf_append(&s->tables, r->table, r->table_len) < 0 ||
        ml_map_put(&s->codes, r->number, s->code.len) < 0)
        return -ENOMEM;
    return ml_vec_push(&s->code, code);
}

/* Its index, a new one at its first use. */
static int64_t frame_index(struct ml_memray_stacks *s, const struct ml_dict_frame *dict_frame,
                           bool is_entry)
{
    struct ml_memray_frame frame = {ml_dict_frame(&s->sink->dict, dict_frame), is_entry};
    uint64_t key[2] = {(uint64_t)frame.frame, is_entry};
    bool is_new = false;
    int64_t index = ml_intern_put(&s->frame_keys, key, sizeof(key), &is_new);

    if (index >= 0 && is_new && ml_vec_push(&s->frames, frame) < 0)
        return -ENOMEM;
    return index;
}

/* A frame by its line. */
static int64_t named_frame(struct ml_memray_stacks *s, const struct ml_memray_record *r)
{
    return frame_index(s,
                       &(struct ml_dict_frame){.kind = ML_FRAME_PYTHON,
                                               .where = string_of(s, r->name),
                                               .what = string_of(s, r->file),
                                               .line = r->line > 0 ? (uint32_t)r->line : 0},
                       r->is_entry);
}

/* memray stores what Python calls the last instruction: in 3.10 it counts words. */
static uint32_t line_of(const struct ml_memray_stacks *s, const struct ml_memray_code *code,
                        const uint8_t *table, int32_t offset)
{
    bool locations = s->file->python >= 0x030b0000, words = s->file->python >= 0x030a0000;

    if (offset < 0 || offset > INT32_MAX / 4 || code->table_len == 0)
        return 0;
    return ml_python_line(locations ? ML_PYTHON_LOCATIONS
                          : words   ? ML_PYTHON_LINETABLE
                                    : ML_PYTHON_LNOTAB,
                          table, code->table_len, code->first_line,
                          words && !locations ? 2 * offset : offset);
}

/* A frame by its code object and instruction. */
static int64_t code_frame(struct ml_memray_stacks *s, uint64_t number, int32_t offset,
                          bool is_entry)
{
    const struct ml_memray_code *code;
    const uint8_t *table;
    uint64_t at;

    if (!ml_map_get(&s->codes, number, &at))
        return -EINVAL;
    code = &s->code.items[at];
    table = s->tables.data ? s->tables.data + code->table : NULL;
    return frame_index(s,
                       &(struct ml_dict_frame){.kind = ML_FRAME_PYTHON,
                                               .where = code->name,
                                               .what = code->file,
                                               .line = line_of(s, code, table, offset)},
                       is_entry);
}

static int add_frame(struct ml_memray_stacks *s, const struct ml_memray_record *r)
{
    int64_t frame = r->name ? named_frame(s, r) : code_frame(s, r->parent, r->offset, r->is_entry);

    return frame < 0 ? (int)frame : ml_map_put(&s->frame_numbers, r->number, (uint64_t)frame);
}

/* ---- Python stacks ------------------------------------------------------------------ */

static int64_t node_of(struct ml_memray_stacks *s, uint32_t parent, uint32_t frame)
{
    uint32_t key[2] = {parent, frame};
    bool is_new = false;
    int64_t index = ml_intern_put(&s->node_keys, key, sizeof(key), &is_new);

    if (index >= 0 && is_new &&
        ml_vec_push(&s->nodes,
                    ((struct ml_memray_node){.parent = parent,
                                             .frame = frame,
                                             .depth = s->nodes.items[parent].depth + 1})) < 0)
        return -ENOMEM;
    return index < 0 ? index : index + 1;
}

/* Of an aggregated file, whose sums refer to nodes by their place: never merged. */
static int add_node(struct ml_memray_stacks *s, const struct ml_memray_record *r)
{
    uint64_t frame;

    if (r->parent >= s->nodes.len || !ml_map_get(&s->frame_numbers, r->number, &frame))
        return -EINVAL;
    return ml_vec_push(&s->nodes,
                       ((struct ml_memray_node){.parent = (uint32_t)r->parent,
                                                .frame = (uint32_t)frame,
                                                .depth = s->nodes.items[r->parent].depth + 1}));
}

int64_t ml_memray_push(struct ml_memray_stacks *s, uint32_t caller,
                       const struct ml_memray_record *record)
{
    uint64_t number;
    int64_t frame;

    if (s->codes.slots || s->codes.has_zero)
        frame = code_frame(s, record->number, record->offset, record->is_entry);
    else
        frame = ml_map_get(&s->frame_numbers, record->number, &number) ? (int64_t)number : -EINVAL;
    return frame < 0 ? frame : node_of(s, caller, (uint32_t)frame);
}

/* The stack of a node in the dictionary; those of its callers are made once. */
static int python_stack(struct ml_memray_stacks *s, uint32_t node, bool main, uint32_t *ret)
{
    uint64_t skip = main ? s->file->skipped_frames : 0;
    uint32_t stack = 0;

    s->path.len = 0;
    while (node && !s->nodes.items[node].made[main]) {
        if (ml_vec_push(&s->path, node) < 0)
            return -ENOMEM;
        node = s->nodes.items[node].parent;
    }
    stack = s->nodes.items[node].stack[main];
    for (size_t i = s->path.len; i-- > 0;) {
        struct ml_memray_node *made = &s->nodes.items[s->path.items[i]];

        if (made->depth > skip && made->depth - skip <= ML_STACK_MAX_DEPTH)
            stack = ml_dict_stack(&s->sink->dict, stack, s->frames.items[made->frame].frame);
        made->stack[main] = stack;
        made->made[main] = true;
    }
    *ret = stack;
    return 0;
}

/* ---- Libraries ---------------------------------------------------------------------- */

static int begin_maps(struct ml_memray_stacks *s)
{
    return ml_vec_push(&s->maps, ((struct ml_memray_maps){.first = s->segments.len}));
}

static int add_library(struct ml_memray_stacks *s, const struct ml_memray_record *r)
{
    uint64_t key[2] = {string_of(s, r->name), r->address};
    bool is_new = false;
    int64_t index = ml_intern_put(&s->library_keys, key, sizeof(key), &is_new);

    if (index < 0 ||
        (is_new &&
         ml_vec_push(&s->libraries,
                     ((struct ml_memray_library){
                         .base = r->address, .end = r->address, .path = (uint32_t)key[0]})) < 0))
        return -ENOMEM;
    /* Its segments refer to the entry. */
    return ml_vec_push(&s->segments, ((struct ml_memray_segment){.library = (uint32_t)index}));
}

/* Empty segments mark where a library's begin. */
static int add_segment(struct ml_memray_stacks *s, const struct ml_memray_record *r)
{
    struct ml_memray_segment segment = {0};
    struct ml_memray_library *library;

    if (s->segments.len == s->maps.items[s->maps.len - 1].first)
        return -EINVAL;
    segment.library = s->segments.items[s->segments.len - 1].library;
    library = &s->libraries.items[segment.library];
    segment.begin = library->base + r->address;
    segment.end = segment.begin + r->bytes;
    if (segment.end > library->end)
        library->end = segment.end;
    return ml_vec_push(&s->segments, segment);
}

static int by_begin(const void *left, const void *right)
{
    const struct ml_memray_segment *a = left, *b = right;

    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return (a->end > b->end) - (a->end < b->end);
}

/* The library of an address; NULL: none. */
static struct ml_memray_library *library_at(struct ml_memray_stacks *s, uint64_t maps,
                                            uint64_t address)
{
    size_t low, high = maps + 1 < s->maps.len ? s->maps.items[maps + 1].first : s->segments.len;
    size_t end = high;
    const struct ml_memray_segment *found;

    low = s->maps.items[maps].first;
    if (!s->maps.items[maps].sorted)
        qsort(s->segments.items + low, high - low, sizeof(s->segments.items[0]), by_begin);
    s->maps.items[maps].sorted = true;
    while (low < end) {
        size_t middle = low + (end - low) / 2;

        if (s->segments.items[middle].begin <= address)
            low = middle + 1;
        else
            end = middle;
    }
    if (low == s->maps.items[maps].first)
        return NULL;
    found = &s->segments.items[low - 1];
    return address < found->end ? &s->libraries.items[found->library] : NULL;
}

/* memray assumes that the file is still the one that was loaded, and so does this. */
static void define_library(struct ml_memray_stacks *s, struct ml_memray_library *library)
{
    char build_id[ML_ELF_BUILD_ID_BYTES] = "";
    const char *path = ml_dict_text(&s->sink->dict, library->path);

    if (ml_elf_build_id(path, build_id))
        ml_eval_loop_read(&library->loop, path);
    library->number =
        1 + ml_dict_add(&s->sink->dict, ML_DEF_LIBRARY,
                        (uint64_t[ML_DEF_FIELDS]){
                            [ML_LIBRARY_PROCESS] = s->process,
                            [ML_LIBRARY_BASE] = library->base,
                            [ML_LIBRARY_END] = library->end,
                            [ML_LIBRARY_PATH] = library->path,
                            [ML_LIBRARY_BUILD_ID] = ml_dict_cstr(&s->sink->dict, build_id),
                        });
}

/* ---- Native frames ------------------------------------------------------------------ */

static int add_native(struct ml_memray_stacks *s, const struct ml_memray_record *r)
{
    if (r->parent > s->natives.len)
        return -EINVAL;
    return ml_vec_push(&s->natives, ((struct ml_memray_native){r->address, (uint32_t)r->parent}));
}

static struct ml_memray_frame make_native_frame(struct ml_memray_stacks *s, uint64_t maps,
                                                uint64_t address)
{
    struct ml_memray_library *library = library_at(s, maps, address - 1);
    struct ml_dict_frame frame = {.kind = ML_FRAME_NATIVE, .what = address};
    bool in_loop = false;

    if (library) {
        if (!library->number)
            define_library(s, library);
        frame.where = library->number;
        frame.what = address - library->base;
        in_loop = ml_eval_loop_has(&library->loop, frame.what - 1);
        s->native_frames = true;
    }
    return (struct ml_memray_frame){ml_dict_frame(&s->sink->dict, &frame), in_loop};
}

static int native_frame(struct ml_memray_stacks *s, uint64_t maps, uint64_t address,
                        struct ml_memray_frame *ret)
{
    uint64_t key[2] = {maps, address};
    bool is_new = false;
    int64_t index = ml_intern_put(&s->native_keys, key, sizeof(key), &is_new);

    if (index < 0 ||
        (is_new && ml_vec_push(&s->native_frame, make_native_frame(s, maps, address)) < 0))
        return -ENOMEM;
    *ret = s->native_frame.items[index];
    return 0;
}

/* ---- Both --------------------------------------------------------------------------- */

/* The frames of a node, innermost first. */
static int gather_python(struct ml_memray_stacks *s, uint32_t node)
{
    s->python.len = 0;
    for (; node && s->python.len < ML_STACK_MAX_DEPTH; node = s->nodes.items[node].parent)
        if (ml_vec_push(&s->python, s->nodes.items[node].frame) < 0)
            return -ENOMEM;
    return 0;
}

/* The native frames, innermost first. */
static int gather_native(struct ml_memray_stacks *s, uint64_t native, uint64_t maps)
{
    s->merged.len = 0;
    while (native > 0 && s->merged.len < ML_STACK_MAX_DEPTH) {
        struct ml_memray_frame frame = {.frame = -1};
        int r = native_frame(s, maps, s->natives.items[native - 1].address, &frame);

        if (r < 0 || ml_vec_push(&s->merged, frame) < 0)
            return -ENOMEM;
        native = s->natives.items[native - 1].parent;
    }
    return 0;
}

/* From the outermost frame inwards. @return false: Python frames are left over */
static bool merge(struct ml_memray_stacks *s, uint64_t skip, uint32_t *ret)
{
    size_t left = s->python.len;
    size_t first_kept = skip < left ? left - (size_t)skip : left;
    uint32_t stack = 0;

    for (size_t i = s->merged.len; i-- > 0;) {
        if (!s->merged.items[i].is_entry || left == 0) {
            stack = ml_dict_stack(&s->sink->dict, stack, s->merged.items[i].frame);
            continue;
        }
        do {
            if (skip > 0 && left == first_kept)
                stack = 0; /* all before is memray's own */
            left--;
            stack =
                ml_dict_stack(&s->sink->dict, stack, s->frames.items[s->python.items[left]].frame);
        } while (left > 0 && !s->frames.items[s->python.items[left - 1]].is_entry);
    }
    *ret = stack;
    return left == 0;
}

static int merged_stack(struct ml_memray_stacks *s, uint32_t node, uint64_t native, uint64_t maps,
                        bool main, uint32_t *ret)
{
    if (gather_python(s, node) < 0 || gather_native(s, native, maps) < 0)
        return -ENOMEM;
    if (merge(s, main ? s->file->skipped_frames : 0, ret))
        return 0;
    return python_stack(s, node, main, ret);
}

int ml_memray_stack(struct ml_memray_stacks *s, uint64_t node, uint64_t native, uint64_t maps,
                    bool main, uint32_t *ret)
{
    uint64_t key[4] = {node, native, maps, main};
    bool is_new = false;
    uint32_t stack = 0;
    int64_t index;
    int r = 0;

    if (node >= s->nodes.len || native > s->natives.len || maps >= s->maps.len)
        return -EINVAL;
    if (!native)
        return python_stack(s, (uint32_t)node, main, ret);
    if (!maps)
        key[2] = maps = s->maps.len - 1;
    index = ml_intern_put(&s->stack_keys, key, sizeof(key), &is_new);
    if (index < 0)
        return -ENOMEM;
    if (is_new) {
        r = merged_stack(s, (uint32_t)node, native, maps, main, &stack);
        if (ml_vec_push(&s->stacks, stack) < 0)
            r = -ENOMEM;
    }
    if (r == 0)
        *ret = s->stacks.items[index];
    return r;
}

int ml_memray_define(struct ml_memray_stacks *s, const struct ml_memray_record *record)
{
    switch (record->kind) {
    case ML_MEMRAY_CODE: return add_code(s, record);
    case ML_MEMRAY_FRAME: return add_frame(s, record);
    case ML_MEMRAY_NODE: return add_node(s, record);
    case ML_MEMRAY_NATIVE: return add_native(s, record);
    case ML_MEMRAY_MAPS_BEGIN: return begin_maps(s);
    case ML_MEMRAY_LIBRARY: return add_library(s, record);
    case ML_MEMRAY_SEGMENT: return add_segment(s, record);
    default: return 0;
    }
}
