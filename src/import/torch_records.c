/* torch_records.c: turns dicts of a snapshot into records as soon as they are complete.
 *
 * A dict's keys show whether it is an entry of a trace, a frame of a stack, a segment, a block
 * or an annotation. Lists of them become ranges of records, lists of frames the number of a
 * stack.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "block.h"
#include "import_limits.h"
#include "torch_snapshot.h"

/* Texts that are interned first, so that their numbers are those of the enum. */
enum key {
    KEY_ACTION,
    KEY_ADDR,
    KEY_SIZE,
    KEY_STREAM,
    KEY_TIME_US,
    KEY_COMPILE_CONTEXT,
    KEY_USER_METADATA,
    KEY_FRAMES,
    KEY_DEVICE_FREE,
    KEY_NAME,
    KEY_FILENAME,
    KEY_LINE,
    KEY_ADDRESS,
    KEY_TOTAL_SIZE,
    KEY_REQUESTED_SIZE,
    KEY_STATE,
    KEY_DEVICE,
    KEY_BLOCKS,
    KEY_SEGMENT_POOL_ID,
    KEY_IS_EXPANDABLE,
    KEY_STAGE,
    KEY_HISTORY,
    KEYS,
    /* Values. */
    TEXT_ALLOC = KEYS,
    TEXT_ALLOCATED = TEXT_ALLOC + ML_TORCH_OTHER,
    TEXT_END,
    TEXT_NOTHING,
    TEXT_EMPTY,
    TEXTS,
};

static const char *const texts[TEXTS] = {
    [KEY_ACTION] = "action",
    [KEY_ADDR] = "addr",
    [KEY_SIZE] = "size",
    [KEY_STREAM] = "stream",
    [KEY_TIME_US] = "time_us",
    [KEY_COMPILE_CONTEXT] = "compile_context",
    [KEY_USER_METADATA] = "user_metadata",
    [KEY_FRAMES] = "frames",
    [KEY_DEVICE_FREE] = "device_free",
    [KEY_NAME] = "name",
    [KEY_FILENAME] = "filename",
    [KEY_LINE] = "line",
    [KEY_ADDRESS] = "address",
    [KEY_TOTAL_SIZE] = "total_size",
    [KEY_REQUESTED_SIZE] = "requested_size",
    [KEY_STATE] = "state",
    [KEY_DEVICE] = "device",
    [KEY_BLOCKS] = "blocks",
    [KEY_SEGMENT_POOL_ID] = "segment_pool_id",
    [KEY_IS_EXPANDABLE] = "is_expandable",
    [KEY_STAGE] = "stage",
    [KEY_HISTORY] = "history",
    [TEXT_ALLOC + ML_TORCH_ALLOC] = "alloc",
    [TEXT_ALLOC + ML_TORCH_FREE_REQUESTED] = "free_requested",
    [TEXT_ALLOC + ML_TORCH_FREE_COMPLETED] = "free_completed",
    [TEXT_ALLOC + ML_TORCH_SEGMENT_ALLOC] = "segment_alloc",
    [TEXT_ALLOC + ML_TORCH_SEGMENT_FREE] = "segment_free",
    [TEXT_ALLOC + ML_TORCH_SEGMENT_MAP] = "segment_map",
    [TEXT_ALLOC + ML_TORCH_SEGMENT_UNMAP] = "segment_unmap",
    [TEXT_ALLOC + ML_TORCH_SNAPSHOT] = "snapshot",
    [TEXT_ALLOC + ML_TORCH_OOM] = "oom",
    [TEXT_ALLOCATED] = "active_allocated",
    [TEXT_END] = "END",
    [TEXT_NOTHING] = "N/A",
    [TEXT_EMPTY] = "",
};

/* The kind of a taken node: a record, or a list of records. */
enum sort {
    SORT_NONE,
    SORT_ENTRY,
    SORT_FRAME,
    SORT_BLOCK,
    SORT_SEGMENT,
    SORT_ANNOTATION,
    SORT_LIST = 16, /* + one of the above; handle: the first record, or the outermost caller */
};

#define PAIRS_MOST 64 /* of a dict that could be a record */

struct fields {
    ml_pickle_value values[KEYS];
    uint32_t present; /* bits 1 << enum key */
};
static_assert(KEYS <= 32, "bits of present");

static bool has(const struct fields *f, enum key key)
{
    return f->present >> key & 1;
}

static void sort_fields(const ml_pickle_value *pairs, size_t count, struct fields *ret)
{
    ret->present = 0;
    for (size_t i = 0; i < count; i += 2) {
        uint64_t key = ml_pickle_index(pairs[i]);

        if (ml_pickle_tag(pairs[i]) != ML_PICKLE_TEXT || key >= KEYS)
            continue;
        ret->values[key] = pairs[i + 1];
        ret->present |= 1u << key;
    }
}

/* ---- Fields ------------------------------------------------------------------ */

static uint64_t number_of(const struct ml_torch_snapshot *t, const struct fields *f, enum key key)
{
    int64_t value = 0;

    if (!has(f, key) || !ml_pickle_int(&t->machine, f->values[key], &value))
        return 0;
    return (uint64_t)value;
}

/* Sizes, counts and times are not negative in a valid file. */
static uint64_t amount_of(const struct ml_torch_snapshot *t, const struct fields *f, enum key key)
{
    uint64_t value = number_of(t, f, key);

    return value > INT64_MAX ? 0 : value;
}

/* Whether one of its sizes is larger than any memory. */
static bool is_too_large(const struct ml_torch_snapshot *t, const struct fields *f)
{
    static const enum key sizes[] = {KEY_SIZE, KEY_REQUESTED_SIZE, KEY_TOTAL_SIZE};

    for (size_t i = 0; i < ML_ARRAY_SIZE(sizes); i++)
        if (has(f, sizes[i]) && (ml_pickle_tag(f->values[sizes[i]]) == ML_PICKLE_HUGE ||
                                 amount_of(t, f, sizes[i]) > ML_IMPORT_BYTES_MAX))
            return true;
    return false;
}

static bool is_text(const struct fields *f, enum key key, int text)
{
    return has(f, key) && f->values[key] == ml_pickle_make(ML_PICKLE_TEXT, (uint64_t)text);
}

/* The dictionary's string for a text; 0 for an empty one. */
static uint32_t string_of(struct ml_torch_snapshot *t, ml_pickle_value value)
{
    uint64_t text = ml_pickle_index(value);
    const char *chars;
    size_t len;

    if (ml_pickle_tag(value) != ML_PICKLE_TEXT || text == TEXT_NOTHING || text == TEXT_EMPTY)
        return 0;
    if (text >= t->strings.len) {
        size_t more = (size_t)text + 1 - t->strings.len;

        if (ml_vec_reserve(&t->strings, more) < 0) {
            t->sink->dict.error = -ENOMEM;
            return 0;
        }
        memset(t->strings.items + t->strings.len, 0, more * sizeof(*t->strings.items));
        t->strings.len += more;
    }
    if (t->strings.items[text] == 0) {
        chars = ml_pickle_chars(&t->machine, value, &len);
        t->strings.items[text] = ml_dict_string(&t->sink->dict, chars, len) + 1;
    }
    return t->strings.items[text] - 1;
}

static uint32_t text_of(struct ml_torch_snapshot *t, const struct fields *f, enum key key)
{
    return has(f, key) ? string_of(t, f->values[key]) : 0;
}

/* One frame of a stack. The innermost comes first, so a growing list adds callers and leaves
 * the frames before unchanged. */
struct caller {
    uint32_t frame, callee; /* number + 1 of the frame it called; 0: it is the innermost */
};

static uint32_t stack_at(struct ml_torch_snapshot *t, uint32_t outermost)
{
    uint32_t stack = t->stacks.items[outermost];
    struct caller caller = {.callee = outermost + 1};

    if (stack)
        return stack;
    while (caller.callee) {
        memcpy(&caller, ml_intern_get(&t->callers, caller.callee - 1, NULL), sizeof(caller));
        stack = ml_dict_stack(&t->sink->dict, stack, caller.frame);
    }
    t->stacks.items[outermost] = stack;
    return stack;
}

/* Before PyTorch 2.1 a block had a list of its allocations, the last one first. */
static bool find_frames(const struct ml_torch_snapshot *t, const struct fields *f,
                        ml_pickle_value *ret)
{
    const struct ml_pickle_node *history = NULL;

    if (has(f, KEY_FRAMES)) {
        *ret = f->values[KEY_FRAMES];
        return true;
    }
    if (has(f, KEY_HISTORY))
        history = ml_pickle_node(&t->machine, f->values[KEY_HISTORY]);
    return history && history->kind == ML_PICKLE_LIST && history->len > 0 &&
           ml_pickle_find(&t->machine, ml_pickle_node(&t->machine, history->items[0]), "frames",
                          ret);
}

static uint32_t stack_of(struct ml_torch_snapshot *t, const struct fields *f)
{
    const struct ml_pickle_node *node;
    ml_pickle_value frames;

    if (!find_frames(t, f, &frames))
        return 0;
    node = ml_pickle_node(&t->machine, frames);
    if (!node || node->kind != ML_PICKLE_TAKEN || node->sort != SORT_LIST + SORT_FRAME)
        return 0;
    return stack_at(t, (uint32_t)node->handle);
}

/* ---- Records --------------------------------------------------------------------- */

/* The node becomes the last of `len` records. */
static int taken(struct ml_pickle_node *node, enum sort sort, size_t len)
{
    *node =
        (struct ml_pickle_node){.kind = ML_PICKLE_TAKEN, .sort = (uint8_t)sort, .handle = len - 1};
    return 1;
}

static uint8_t action_of(const struct fields *f)
{
    uint64_t text = ml_pickle_index(f->values[KEY_ACTION]) - TEXT_ALLOC;

    if (ml_pickle_tag(f->values[KEY_ACTION]) != ML_PICKLE_TEXT || text >= ML_TORCH_OTHER)
        return ML_TORCH_OTHER;
    return (uint8_t)text;
}

static int take_entry(struct ml_torch_snapshot *t, struct ml_pickle_node *node,
                      const struct fields *f, struct ml_error *err)
{
    struct ml_torch_history_entry entry = {
        .action = action_of(f),
        .addr = number_of(t, f, has(f, KEY_ADDR) ? KEY_ADDR : KEY_DEVICE_FREE),
        .has_addr = has(f, KEY_ADDR) || has(f, KEY_DEVICE_FREE),
        .size = amount_of(t, f, KEY_SIZE),
        .time_us = amount_of(t, f, KEY_TIME_US),
        .has_time = has(f, KEY_TIME_US),
        .stream = number_of(t, f, KEY_STREAM),
        .stack = stack_of(t, f),
        .metadata = text_of(t, f, KEY_USER_METADATA),
        .context = text_of(t, f, KEY_COMPILE_CONTEXT),
        .slack = ML_TORCH_SLACK_UNKNOWN,
    };

    /* A failed request may have any size; no sum contains it. */
    if (entry.action != ML_TORCH_OOM && is_too_large(t, f))
        return ml_pickle_bad(&t->machine, err, ML_IMPORT_TOO_LARGE);
    if (entry.action == ML_TORCH_OTHER && entry.metadata == 0)
        entry.metadata = text_of(t, f, KEY_ACTION);
    if (t->entries.len == UINT32_MAX || ml_vec_push(&t->entries, entry) < 0)
        return ml_pickle_no_memory(&t->machine, err);
    return taken(node, SORT_ENTRY, t->entries.len);
}

static int take_frame(struct ml_torch_snapshot *t, struct ml_pickle_node *node,
                      const struct fields *f, struct ml_error *err)
{
    int64_t frame = ml_dict_frame(&t->sink->dict, &(struct ml_dict_frame){
                                                      .kind = ML_FRAME_PYTHON,
                                                      .where = text_of(t, f, KEY_NAME),
                                                      .what = text_of(t, f, KEY_FILENAME),
                                                      .line = (uint32_t)amount_of(t, f, KEY_LINE),
                                                  });

    if (frame < 0)
        return ml_pickle_no_memory(&t->machine, err);
    return taken(node, SORT_FRAME, (size_t)frame + 1);
}

static int take_block(struct ml_torch_snapshot *t, struct ml_pickle_node *node,
                      const struct fields *f, struct ml_error *err)
{
    struct ml_torch_block block = {
        .addr = number_of(t, f, KEY_ADDRESS),
        .has_addr = has(f, KEY_ADDRESS),
        .size = amount_of(t, f, KEY_SIZE),
        .requested = amount_of(t, f, has(f, KEY_REQUESTED_SIZE) ? KEY_REQUESTED_SIZE : KEY_SIZE),
        .stack = stack_of(t, f),
        .state = is_text(f, KEY_STATE, TEXT_ALLOCATED) ? ML_TORCH_ALLOCATED : ML_TORCH_INACTIVE,
        .exact = true,
    };

    if (is_too_large(t, f))
        return ml_pickle_bad(&t->machine, err, ML_IMPORT_TOO_LARGE);
    if (t->blocks.len == UINT32_MAX || ml_vec_push(&t->blocks, block) < 0)
        return ml_pickle_no_memory(&t->machine, err);
    return taken(node, SORT_BLOCK, t->blocks.len);
}

static void pool_of(const struct ml_torch_snapshot *t, const struct fields *f, uint64_t ret[2])
{
    const struct ml_pickle_node *node = NULL;
    int64_t value;

    if (has(f, KEY_SEGMENT_POOL_ID))
        node = ml_pickle_node(&t->machine, f->values[KEY_SEGMENT_POOL_ID]);
    for (uint32_t i = 0; i < 2; i++) {
        ret[i] = 0;
        if (node && node->kind != ML_PICKLE_TAKEN && node->len == 2 &&
            ml_pickle_int(&t->machine, node->items[i], &value))
            ret[i] = (uint64_t)value;
    }
}

static int take_segment(struct ml_torch_snapshot *t, struct ml_pickle_node *node,
                        const struct fields *f, struct ml_error *err)
{
    const struct ml_pickle_node *blocks = ml_pickle_node(&t->machine, f->values[KEY_BLOCKS]);
    struct ml_torch_segment segment = {
        .addr = number_of(t, f, KEY_ADDRESS),
        .size = amount_of(t, f, KEY_TOTAL_SIZE),
        .stream = number_of(t, f, KEY_STREAM),
        .device = (uint32_t)amount_of(t, f, KEY_DEVICE),
        .stack = stack_of(t, f),
        .expandable = number_of(t, f, KEY_IS_EXPANDABLE) != 0,
    };

    if (is_too_large(t, f))
        return ml_pickle_bad(&t->machine, err, ML_IMPORT_TOO_LARGE);
    pool_of(t, f, segment.pool);
    if (blocks && blocks->kind == ML_PICKLE_TAKEN && blocks->sort == SORT_LIST + SORT_BLOCK) {
        segment.first_block = (uint32_t)blocks->handle;
        segment.block_count = blocks->len;
    } else if (!blocks || blocks->len) {
        return ml_pickle_bad(&t->machine, err,
                             "a segment whose list of blocks contains something else");
    }
    if (t->segments.len == UINT32_MAX || ml_vec_push(&t->segments, segment) < 0)
        return ml_pickle_no_memory(&t->machine, err);
    return taken(node, SORT_SEGMENT, t->segments.len);
}

static int take_annotation(struct ml_torch_snapshot *t, struct ml_pickle_node *node,
                           const struct fields *f, struct ml_error *err)
{
    struct ml_torch_annotation annotation = {
        .time_us = amount_of(t, f, KEY_TIME_US),
        .device = (uint32_t)amount_of(t, f, KEY_DEVICE),
        .name = text_of(t, f, KEY_NAME),
        .ends = is_text(f, KEY_STAGE, TEXT_END),
    };

    if (t->annotations.len == UINT32_MAX || ml_vec_push(&t->annotations, annotation) < 0)
        return ml_pickle_no_memory(&t->machine, err);
    return taken(node, SORT_ANNOTATION, t->annotations.len);
}

static int take_dict(void *ctx, struct ml_pickle_node *node, const ml_pickle_value *pairs,
                     size_t count, struct ml_error *err)
{
    struct ml_torch_snapshot *t = ctx;
    struct fields f;

    if (count > 2 * PAIRS_MOST)
        return 0;
    sort_fields(pairs, count, &f);
    if (has(&f, KEY_ACTION))
        return take_entry(t, node, &f, err);
    if (has(&f, KEY_NAME) && has(&f, KEY_FILENAME))
        return take_frame(t, node, &f, err);
    if (has(&f, KEY_STATE) && has(&f, KEY_SIZE))
        return take_block(t, node, &f, err);
    if (has(&f, KEY_TOTAL_SIZE) && has(&f, KEY_BLOCKS))
        return take_segment(t, node, &f, err);
    if (has(&f, KEY_STAGE) && has(&f, KEY_NAME))
        return take_annotation(t, node, &f, err);
    return 0;
}

/* ---- Lists ----------------------------------------------------------------------- */

/* The kind of a list's item. A dict that was filled one key at a time is complete now. */
static int sort_of(struct ml_torch_snapshot *t, ml_pickle_value item, enum sort *ret,
                   struct ml_error *err)
{
    struct ml_pickle_node *node = ml_pickle_node(&t->machine, item);
    int r = 0;

    *ret = SORT_NONE;
    if (node && node->kind == ML_PICKLE_DICT && node->len)
        r = take_dict(t, node, node->items, node->len, err);
    if (node && node->kind == ML_PICKLE_TAKEN && node->sort < SORT_LIST)
        *ret = (enum sort)node->sort;
    return r < 0 ? r : 0;
}

static int add_frame(struct ml_torch_snapshot *t, struct ml_pickle_node *list, uint32_t frame,
                     struct ml_error *err)
{
    struct caller caller = {frame, list->len ? (uint32_t)list->handle + 1 : 0};
    bool is_new;
    int64_t number = ml_intern_put(&t->callers, &caller, sizeof(caller), &is_new);

    if (number < 0 || (is_new && ml_vec_push(&t->stacks, 0) < 0))
        return ml_pickle_no_memory(&t->machine, err);
    list->handle = (uint64_t)number;
    list->len++;
    return 0;
}

/* Keeps the innermost frames of a stack that is deeper than a trace allows. */
static int add_frames(struct ml_torch_snapshot *t, struct ml_pickle_node *list,
                      const ml_pickle_value *items, size_t count, struct ml_error *err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < count && list->len < ML_STACK_MAX_DEPTH; i++)
        r = add_frame(t, list, (uint32_t)ml_pickle_node(&t->machine, items[i])->handle, err);
    return r < 0 ? r : 1;
}

/* Records are created in the order of their lists. */
static int add_range(struct ml_torch_snapshot *t, struct ml_pickle_node *list,
                     const ml_pickle_value *items, size_t count, struct ml_error *err)
{
    if (list->len == 0)
        list->handle = ml_pickle_node(&t->machine, items[0])->handle;
    for (size_t i = 0; i < count; i++)
        if (ml_pickle_node(&t->machine, items[i])->handle != list->handle + list->len + i)
            return ml_pickle_bad(&t->machine, err, "an entry is in the snapshot twice");
    if (list->len + count > UINT32_MAX)
        return ml_pickle_no_memory(&t->machine, err);
    list->len += (uint32_t)count;
    return 1;
}

static int take_list(void *ctx, struct ml_pickle_node *list, const ml_pickle_value *items,
                     size_t count, struct ml_error *err)
{
    struct ml_torch_snapshot *t = ctx;
    bool fresh = list->kind != ML_PICKLE_TAKEN;
    enum sort first = fresh ? SORT_NONE : (enum sort)(list->sort - SORT_LIST);

    for (size_t i = 0; i < count; i++) {
        enum sort sort;
        int r = sort_of(t, items[i], &sort, err);

        if (r < 0)
            return r;
        if (i == 0 && fresh)
            first = sort;
        if (sort != first && !fresh)
            return ml_pickle_bad(&t->machine, err,
                                 "a list in the snapshot mixes several kinds of records");
        if (sort == SORT_NONE || sort != first)
            return 0;
    }
    if (fresh)
        *list =
            (struct ml_pickle_node){.kind = ML_PICKLE_TAKEN, .sort = (uint8_t)(SORT_LIST + first)};
    return first == SORT_FRAME ? add_frames(t, list, items, count, err)
                               : add_range(t, list, items, count, err);
}

/* ---- For torch_snapshot.c -------------------------------------------------------- */

bool ml_torch_is_segments(const struct ml_pickle_node *node)
{
    return node && node->kind == ML_PICKLE_TAKEN && node->sort == SORT_LIST + SORT_SEGMENT;
}

bool ml_torch_is_trace(const struct ml_pickle_node *node, struct ml_torch_trace *ret)
{
    if (!node || node->kind != ML_PICKLE_TAKEN || node->sort != SORT_LIST + SORT_ENTRY)
        return false;
    *ret = (struct ml_torch_trace){(uint32_t)node->handle, node->len};
    return true;
}

int ml_torch_records_begin(struct ml_torch_snapshot *t)
{
    t->taker = (struct ml_pickle_taker){.dict = take_dict, .list = take_list, .ctx = t};
    ml_pickle_init(&t->machine, t->source, &t->taker);
    for (int i = 0; i < TEXTS; i++)
        if (ml_pickle_text(&t->machine, texts[i]) != i)
            return -ENOMEM;
    return 0;
}
