/* ledger_tally.c: see ledger_tally.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ledger_tally.h"

#include <errno.h>
#include <string.h>

#include "event_names.h"
#include "memledger/memledger.h"
#include "scope_path.h"
#include "stack_owner.h"

#define OWNER_MAX 256
#define NO_CALLER "caller not recorded"
#define NO_SCOPE "no scope"
#define NO_CATEGORY "without a category"
#define SLACK_NAME "slack"
#define POOL_SLACK "pool slack"

/* How lines of a group are divided, which decides the meaning of their number. */
enum how {
    WHOLE,
    BY_OWNER,
    BY_COMMUNICATOR,
    BY_SCOPE,
    BY_LABEL,
    BY_STACK,
    SLACK,
    BY_POOL,
    POOL_FREE
};

static const char *const groups[] = {
    [ML_GROUP_BLOCKS] = "blocks",
    [ML_GROUP_PRIVATE] = "private pools",
    [ML_GROUP_ASYNC] = "stream-ordered pools",
    [ML_GROUP_REPORTED] = "reported by the program",
    [ML_GROUP_DIRECT] = "driver allocations",
    [ML_GROUP_ARRAYS] = "arrays",
    [ML_GROUP_GRAPHS] = "graphs",
    [ML_GROUP_CONTEXT] = "context",
    [ML_GROUP_MODULES] = "kernels and modules",
    [ML_GROUP_LIMITS] = "limits: stacks, heap, printf",
    [ML_GROUP_ROUNDING] = "rounding to pages",
    [ML_GROUP_OTHER] = "streams, events, first copies",
    [ML_GROUP_BEFORE] = "allocated before the recording began",
    [ML_GROUP_BEFORE_ALL] = "allocated before the recording began, by any process",
    [ML_GROUP_HEAP] = "malloc",
    [ML_GROUP_MAPPINGS] = "mmap",
    [ML_GROUP_PINNED] = "pinned for CUDA",
    [ML_GROUP_TORCH] = "PyTorch",
};

static const char *const slacks[] = {
    [ML_SLACK_SEGMENTS] = "free inside segments",
    [ML_SLACK_OUTSIDE] = "outside segments",
};

/* ---- Lines ------------------------------------------------------------- */

/*   63     48 47      40 39      32 31        0
 *  +---------+----------+----------+-----------+
 *  |  group  |   how    | category |  number   |
 *  +---------+----------+----------+-----------+ */
static uint64_t key_of(enum ml_ledger_group group, enum how how, uint8_t category, uint32_t number)
{
    return (uint64_t)group << 48 | (uint64_t)how << 40 | (uint64_t)category << 32 | number;
}

static enum ml_ledger_group group_of(uint64_t key)
{
    return (enum ml_ledger_group)(key >> 48);
}

static enum how how_of(uint64_t key)
{
    return (enum how)(key >> 40 & 0xff);
}

static uint8_t category_of(uint64_t key)
{
    return (uint8_t)(key >> 32);
}

static int add(struct ml_ledger_tally *tally, uint64_t key, int64_t bytes)
{
    uint64_t at;

    if (!ml_map_get(&tally->index, key, &at)) {
        at = tally->lines.len;
        if (ml_vec_push(&tally->lines, (struct ml_ledger_line){.key = key}) < 0 ||
            ml_map_put(&tally->index, key, at) < 0)
            return -ENOMEM;
    }
    tally->lines.items[at].bytes = ml_ledger_sum(tally->lines.items[at].bytes, bytes);
    return 0;
}

void ml_ledger_tally_release(struct ml_ledger_tally *tally)
{
    ml_vec_release(&tally->lines);
    ml_map_release(&tally->index);
    ml_vec_release(&tally->askers);
    ml_map_release(&tally->asker_index);
}

int ml_tally_whole(struct ml_ledger_tally *tally, enum ml_ledger_group group, uint64_t bytes)
{
    return add(tally, key_of(group, WHOLE, 0, 0), (int64_t)bytes);
}

/* The innermost scope that identifies a place in the program; operators and phases are the same
 * everywhere. */
static uint32_t telling_scope(const struct ml_trace *trace, uint32_t scope)
{
    uint32_t at = scope;

    while (at != 0) {
        const struct ml_scope *s = ml_trace_scope(trace, at);

        if (s->kind != MEMLEDGER_SCOPE_OPERATOR && s->kind != MEMLEDGER_SCOPE_PHASE)
            return at;
        at = s->parent < at ? s->parent : 0;
    }
    return scope;
}

/* The outermost module around it, which is compiled or captured as a whole; without one, as above.
 */
static uint32_t region_scope(const struct ml_trace *trace, uint32_t scope)
{
    uint32_t region = 0;

    for (uint32_t at = scope; at != 0;) {
        const struct ml_scope *s = ml_trace_scope(trace, at);

        if (s->kind == MEMLEDGER_SCOPE_MODULE)
            region = at;
        at = s->parent < at ? s->parent : 0;
    }
    return region ? region : telling_scope(trace, scope);
}

/* The number of a stack, or a label, and a scope together, or -ENOMEM. */
static int64_t asker_of(struct ml_ledger_tally *tally, uint32_t stack, uint32_t scope)
{
    uint64_t asker = (uint64_t)stack << 32 | scope;
    uint64_t at;

    if (ml_map_get(&tally->asker_index, asker, &at))
        return (int64_t)at;
    at = tally->askers.len;
    if (ml_vec_push(&tally->askers, asker) < 0 || ml_map_put(&tally->asker_index, asker, at) < 0)
        return -ENOMEM;
    return (int64_t)at;
}

bool ml_tally_is_nccl(const struct ml_trace *trace, uint32_t label)
{
    return label &&
           !strncmp(ml_trace_string(trace, label, NULL), ML_NCCL_LABEL, strlen(ML_NCCL_LABEL));
}

/* A label says that NCCL was at work, the stack that it made the request. */
static bool is_for_communicator(const struct ml_trace *trace, const struct ml_block *block)
{
    char room[OWNER_MAX];

    return ml_tally_is_nccl(trace, block->label) &&
           !strcmp(ml_stack_owner(trace, block->stack, room, sizeof(room)), "NCCL");
}

int ml_tally_owner(struct ml_ledger_tally *tally, enum ml_ledger_group group,
                   const struct ml_trace *trace, const struct ml_block *block)
{
    int64_t asker;

    if (is_for_communicator(trace, block))
        return add(tally, key_of(group, BY_COMMUNICATOR, 0, block->label), (int64_t)block->size);
    asker = asker_of(tally, block->stack, telling_scope(trace, block->scope));
    if (asker < 0)
        return -ENOMEM;
    return add(tally, key_of(group, BY_OWNER, 0, (uint32_t)asker), (int64_t)block->size);
}

int ml_tally_block(struct ml_ledger_tally *tally, enum ml_ledger_group group,
                   const struct ml_trace *trace, const struct ml_block *block, uint64_t bytes)
{
    enum how how = block->scope ? BY_SCOPE : block->label ? BY_LABEL : BY_STACK;
    uint32_t number = block->scope   ? telling_scope(trace, block->scope)
                      : block->label ? block->label
                                     : block->stack;

    return add(tally, key_of(group, how, block->category, number), (int64_t)bytes);
}

int ml_tally_slack(struct ml_ledger_tally *tally, enum ml_ledger_group group,
                   enum ml_ledger_slack slack, int64_t bytes)
{
    return bytes ? add(tally, key_of(group, SLACK, 0, slack), bytes) : 0;
}

int ml_tally_pool(struct ml_ledger_tally *tally, const struct ml_trace *trace,
                  const struct ml_block *container, const struct ml_block *block, uint64_t bytes)
{
    int64_t pool = asker_of(tally, container->label, region_scope(trace, container->scope));
    uint64_t key;

    if (pool < 0)
        return -ENOMEM;
    key = key_of(ML_GROUP_PRIVATE, block ? BY_POOL : POOL_FREE, block ? block->category : 0,
                 (uint32_t)pool);
    return bytes ? add(tally, key, (int64_t)bytes) : 0;
}

/* ---- Entries ----------------------------------------------------------- */

struct writer {
    const struct ml_ledger_tally *tally;
    const struct ml_trace *trace;
    struct ml_arena *arena;
    struct ml_ledger_entry *book;
};

static bool is_named(const struct ml_ledger_entry *entry, const char *name)
{
    return strcmp(entry->name, name) == 0;
}

static int add_named(struct writer *w, struct ml_ledger_entry *parent, const char *name,
                     int64_t bytes)
{
    struct ml_ledger_entry *entry = parent ? ml_ledger_child(parent, name, w->arena) : NULL;

    if (!entry)
        return -ENOMEM;
    entry->bytes = ml_ledger_sum(entry->bytes, bytes);
    return 0;
}

static int add_owner(struct writer *w, struct ml_ledger_entry *parent, uint32_t stack,
                     const char *unknown, int64_t bytes)
{
    char room[OWNER_MAX];
    const char *owner = ml_stack_owner(w->trace, stack, room, sizeof(room));

    return add_named(w, parent, stack && strcmp(owner, "unknown") ? owner : unknown, bytes);
}

static int scope_name(const struct ml_trace *trace, uint32_t scope, struct ml_buf *ret)
{
    int r = ml_scope_path(trace, scope, ret);

    return r < 0 || ret->len ? r : ml_buf_puts(ret, NO_SCOPE);
}

/* Memory that the program itself requested is listed by scope. */
static int add_asker(struct writer *w, struct ml_ledger_entry *group, uint32_t number,
                     int64_t bytes)
{
    uint32_t stack = (uint32_t)(w->tally->askers.items[number] >> 32);
    uint32_t scope = (uint32_t)w->tally->askers.items[number];
    char room[OWNER_MAX];
    const char *owner = ml_stack_owner(w->trace, stack, room, sizeof(room));
    struct ml_buf path;
    int r;

    if (ml_stack_asker(w->trace, stack) == 0 || ml_stack_owner_is_known(w->trace, stack))
        return add_owner(w, group, stack, NO_CALLER, bytes);
    ml_buf_init(&path);
    r = scope_name(w->trace, scope, &path);
    if (r == 0)
        r = add_named(w, ml_ledger_child(group, owner, w->arena), (const char *)path.data, bytes);
    ml_buf_release(&path);
    return r;
}

/* Each scope has a different number, so no lookup is needed. */
static int add_scope(struct writer *w, struct ml_ledger_entry *parent, uint32_t scope,
                     int64_t bytes)
{
    struct ml_buf path;
    int r;

    ml_buf_init(&path);
    r = scope_name(w->trace, scope, &path);
    if (r == 0 && !ml_ledger_add(parent, (const char *)path.data, bytes, w->arena))
        r = -ENOMEM;
    ml_buf_release(&path);
    return r;
}

static int add_block_line(struct writer *w, struct ml_ledger_entry *group, uint64_t key,
                          int64_t bytes)
{
    uint8_t category = category_of(key);
    uint32_t number = (uint32_t)key;
    struct ml_ledger_entry *entry =
        ml_ledger_child(group, category ? ml_category_name(category) : NO_CATEGORY, w->arena);

    if (!entry)
        return -ENOMEM;
    if (how_of(key) == BY_SCOPE)
        return add_scope(w, entry, number, bytes);
    if (how_of(key) == BY_STACK)
        return add_owner(w, entry, number, NO_SCOPE, bytes);
    return add_named(w, entry, ml_trace_string(w->trace, number, NULL), bytes);
}

static int add_slack_line(struct writer *w, struct ml_ledger_entry *group, uint32_t slack,
                          int64_t bytes)
{
    bool in_pools = slack != ML_SLACK || !is_named(group, groups[ML_GROUP_BLOCKS]);
    struct ml_ledger_entry *entry =
        ml_ledger_child(group, in_pools ? POOL_SLACK : SLACK_NAME, w->arena);

    if (entry && slack != ML_SLACK)
        return add_named(w, entry, slacks[slack], bytes);
    if (!entry)
        return -ENOMEM;
    entry->bytes = ml_ledger_sum(entry->bytes, bytes);
    return 0;
}

/* "CUDA graphs: GPT" */
static struct ml_ledger_entry *pool_entry(struct writer *w, struct ml_ledger_entry *group,
                                          uint32_t number)
{
    uint32_t label = (uint32_t)(w->tally->askers.items[number] >> 32);
    uint32_t scope = (uint32_t)w->tally->askers.items[number];
    struct ml_ledger_entry *entry = NULL;
    struct ml_buf name;

    ml_buf_init(&name);
    if (ml_buf_puts(&name, ml_trace_string(w->trace, label, NULL)) == 0 &&
        (scope == 0 ||
         (ml_buf_puts(&name, ": ") == 0 && ml_scope_path(w->trace, scope, &name) == 0)))
        entry = ml_ledger_child(group, (const char *)name.data, w->arena);
    ml_buf_release(&name);
    return entry;
}

static int add_pool_line(struct writer *w, struct ml_ledger_entry *group, uint64_t key,
                         int64_t bytes)
{
    uint8_t category = category_of(key);
    const char *name = how_of(key) == POOL_FREE ? SLACK_NAME
                       : category               ? ml_category_name(category)
                                                : NO_CATEGORY;

    return add_named(w, pool_entry(w, group, (uint32_t)key), name, bytes);
}

static int add_line(struct writer *w, const struct ml_ledger_line *line)
{
    struct ml_ledger_entry *group = ml_ledger_child(w->book, groups[group_of(line->key)], w->arena);

    if (!group)
        return -ENOMEM;
    switch (how_of(line->key)) {
    case WHOLE: group->bytes = ml_ledger_sum(group->bytes, line->bytes); return 0;
    case BY_OWNER: return add_asker(w, group, (uint32_t)line->key, line->bytes);
    case BY_COMMUNICATOR:
        return add_named(w, group, ml_trace_string(w->trace, (uint32_t)line->key, NULL),
                         line->bytes);
    case SLACK: return add_slack_line(w, group, (uint32_t)line->key, line->bytes);
    case BY_POOL:
    case POOL_FREE: return add_pool_line(w, group, line->key, line->bytes);
    default: return add_block_line(w, group, line->key, line->bytes);
    }
}

static bool is_slack(const struct ml_ledger_entry *entry)
{
    return is_named(entry, SLACK_NAME) || is_named(entry, POOL_SLACK);
}

/* An entry whose only line is "no caller" or "no scope" needs no line. */
static void drop_silent(struct ml_ledger_entry *entry)
{
    if (entry->entries.len == 1 && (is_named(&entry->entries.items[0], NO_CALLER) ||
                                    is_named(&entry->entries.items[0], NO_SCOPE)))
        ml_vec_release(&entry->entries);
}

static bool has_categories(const struct ml_ledger_entry *group)
{
    static const enum ml_ledger_group with[] = {
        ML_GROUP_BLOCKS,   ML_GROUP_ASYNC,  ML_GROUP_REPORTED, ML_GROUP_HEAP,
        ML_GROUP_MAPPINGS, ML_GROUP_PINNED, ML_GROUP_TORCH};

    for (size_t i = 0; i < ML_ARRAY_SIZE(with); i++)
        if (is_named(group, groups[with[i]]))
            return true;
    return false;
}

/* If all blocks lack a category, their lines replace the category's line. */
static int lift_only_category(struct ml_ledger_entry *group)
{
    size_t categories = 0, bare = 0;

    for (size_t i = 0; i < group->entries.len; i++) {
        if (is_slack(&group->entries.items[i]))
            continue;
        categories++;
        if (is_named(&group->entries.items[i], NO_CATEGORY))
            bare = i;
    }
    if (categories != 1 || !is_named(&group->entries.items[bare], NO_CATEGORY))
        return 0;
    if (group->entries.items[bare].entries.len == 0 && group->entries.len > 1)
        return 0; /* next to slack it needs a line */
    return ml_ledger_lift(group, bare);
}

static int tidy_group(struct ml_ledger_entry *group, size_t top, struct ml_arena *arena)
{
    int r = 0;

    if (!has_categories(group)) {
        for (size_t i = 0; i < group->entries.len && r == 0; i++) {
            drop_silent(&group->entries.items[i]);
            r = ml_ledger_cut(&group->entries.items[i], top, arena);
        }
        drop_silent(group);
        return r < 0 ? r : ml_ledger_cut(group, top, arena);
    }
    for (size_t i = 0; i < group->entries.len && r == 0; i++) {
        if (is_slack(&group->entries.items[i]))
            continue;
        drop_silent(&group->entries.items[i]);
        r = ml_ledger_cut(&group->entries.items[i], top, arena);
    }
    return r < 0 ? r : lift_only_category(group);
}

int ml_tally_write(const struct ml_ledger_tally *tally, const struct ml_trace *trace, size_t top,
                   struct ml_ledger_entry *book, struct ml_arena *arena)
{
    struct writer w = {.tally = tally, .trace = trace, .arena = arena, .book = book};
    int r = 0;

    for (size_t i = 0; i < tally->lines.len && r == 0; i++)
        r = add_line(&w, &tally->lines.items[i]);
    ml_ledger_settle(book);
    for (size_t i = 0; i < book->entries.len && r == 0; i++)
        r = tidy_group(&book->entries.items[i], top, arena);
    ml_ledger_settle(book);
    return r;
}
