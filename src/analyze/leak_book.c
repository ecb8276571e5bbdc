/* leak_book.c: see leak_book.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "leak_book.h"

#include <errno.h>

/* ---- Blocks come and go ------------------------------------------------ */

static size_t index_of(const struct ml_leak_book *book, const struct ml_block *block)
{
    return (size_t)(block - book->replay->blocks.items);
}

static int add_entries(struct ml_leak_book *book, size_t index)
{
    while (book->entries.len <= index)
        if (ml_vec_push(&book->entries, (struct ml_leak_entry){0}) < 0)
            return -ENOMEM;
    return 0;
}

static void on_open(void *ctx, const struct ml_block *block)
{
    struct ml_leak_book *book = ctx;
    size_t index = index_of(book, block);

    if ((index >= book->entries.len && add_entries(book, index) < 0) ||
        (!book->entries.items[index].young && ml_vec_push(&book->young, (uint32_t)index) < 0)) {
        book->failed = -ENOMEM;
        return;
    }
    book->entries.items[index].young = true;
    if (book->last_birth == 0)
        book->first_birth = block->time_ns;
    book->last_birth = block->time_ns;
}

static void touch(struct ml_leak_book *book, uint32_t group)
{
    struct ml_leak_group *g = &book->list.items[group];

    if (!g->touched && ml_vec_push(&book->touched, group) < 0)
        book->failed = -ENOMEM;
    g->touched = true;
}

static void leave_group(struct ml_leak_book *book, struct ml_leak_entry *entry)
{
    struct ml_leak_group *g = &book->list.items[entry->group - 1];

    touch(book, entry->group - 1);
    g->bytes -= entry->bytes;
    g->blocks--;
    book->bytes -= entry->bytes;
    entry->group = 0;
}

static void on_close(void *ctx, const struct ml_block *block, const struct ml_event *event)
{
    struct ml_leak_book *book = ctx;
    size_t index = index_of(book, block);

    (void)event;
    if (book->failed == 0 && index < book->entries.len && book->entries.items[index].group > 0)
        leave_group(book, &book->entries.items[index]);
}

/* The rest of a block is a block that nobody has seen yet. */
static void on_split(void *ctx, const struct ml_block *from, const struct ml_block *rest)
{
    (void)from;
    on_open(ctx, rest);
}

/* ---- The end of a step ------------------------------------------------- */

static bool is_looked_at(const struct ml_leak_book *book, const struct ml_block *block)
{
    const struct ml_replay *replay = book->replay;
    const struct ml_replay_space *space = &replay->spaces.items[block->space];

    return block->live && space->counted && !space->ended &&
           (book->device < 0 || space->device == book->device) &&
           (book->process < 0 || replay->processes.items[space->process].number == book->process);
}

static void resize(struct ml_leak_book *book, struct ml_leak_entry *entry, uint64_t bytes)
{
    struct ml_leak_group *g = &book->list.items[entry->group - 1];

    touch(book, entry->group - 1);
    g->bytes += bytes - entry->bytes;
    book->bytes += bytes - entry->bytes;
    entry->bytes = bytes;
}

static int make_pliable(struct ml_leak_book *book, uint32_t index)
{
    struct ml_leak_entry *entry = &book->entries.items[index];

    if (entry->pliable)
        return 0;
    entry->pliable = true;
    return ml_vec_push(&book->pliable, index);
}

/* A space shows that it has ranges when the first is given back: blocks that are in
 * groups by then may have changed too. */
static int look_at_spaces(struct ml_leak_book *book)
{
    const struct ml_replay *replay = book->replay;

    while (book->ranged.len < replay->spaces.len)
        if (ml_vec_push(&book->ranged, false) < 0)
            return -ENOMEM;
    for (uint32_t space = 0; space < replay->spaces.len; space++) {
        if (!replay->spaces.items[space].ranged || book->ranged.items[space])
            continue;
        book->ranged.items[space] = true;
        for (size_t i = 0; i < book->entries.len; i++)
            if (book->entries.items[i].group > 0 && replay->blocks.items[i].space == space &&
                make_pliable(book, (uint32_t)i) < 0)
                return -ENOMEM;
    }
    return 0;
}

static int enter_group(struct ml_leak_book *book, uint32_t index)
{
    const struct ml_block *block = &book->replay->blocks.items[index];
    struct ml_leak_entry *entry = &book->entries.items[index];
    int64_t group = ml_block_group_of(&book->groups, block);

    if (group < 0 || ((size_t)group == book->list.len &&
                      ml_vec_push(&book->list, (struct ml_leak_group){0}) < 0))
        return -ENOMEM;
    entry->group = (uint32_t)group + 1;
    entry->bytes = 0;
    resize(book, entry, block->size);
    book->list.items[group].blocks++;
    if (block->stack != 0)
        book->list.items[group].stack = block->stack;
    return book->ranged.items[block->space] ? make_pliable(book, index) : 0;
}

/* Who was born since the last end, and stays. */
static int look_at_young(struct ml_leak_book *book)
{
    for (size_t i = 0; i < book->young.len; i++) {
        uint32_t index = book->young.items[i];

        book->entries.items[index].young = false;
        if (book->entries.items[index].group == 0 &&
            is_looked_at(book, &book->replay->blocks.items[index]) && enter_group(book, index) < 0)
            return -ENOMEM;
    }
    ml_vec_clear(&book->young);
    return 0;
}

/* Mappings that were given back in part. They are few. */
static void look_at_pliable(struct ml_leak_book *book)
{
    size_t kept = 0;

    for (size_t i = 0; i < book->pliable.len; i++) {
        uint32_t index = book->pliable.items[i];
        struct ml_leak_entry *entry = &book->entries.items[index];
        uint64_t bytes = book->replay->blocks.items[index].size;

        entry->pliable = entry->group > 0;
        if (!entry->pliable)
            continue;
        if (bytes != entry->bytes)
            resize(book, entry, bytes);
        book->pliable.items[kept++] = index;
    }
    book->pliable.len = kept;
}

static int write_changes(struct ml_leak_book *book)
{
    for (size_t i = 0; i < book->touched.len; i++) {
        struct ml_leak_group *g = &book->list.items[book->touched.items[i]];
        struct ml_leak_change change = {
            .group = book->touched.items[i],
            .step = (uint32_t)book->ends.len,
            .bytes = (int64_t)(g->bytes - g->end_bytes),
            .blocks = (int64_t)(g->blocks - g->end_blocks),
        };

        g->touched = false;
        g->end_bytes = g->bytes;
        g->end_blocks = g->blocks;
        if ((change.bytes != 0 || change.blocks != 0) && ml_vec_push(&book->changes, change) < 0)
            return -ENOMEM;
    }
    ml_vec_clear(&book->touched);
    return 0;
}

int ml_leak_book_end(struct ml_leak_book *book, uint64_t number, uint64_t time_ns)
{
    if (book->failed < 0 || look_at_spaces(book) < 0)
        return book->failed = -ENOMEM;
    look_at_pliable(book);
    if (look_at_young(book) < 0 || write_changes(book) < 0 ||
        ml_vec_push(&book->ends, (struct ml_leak_end){number, time_ns, book->bytes}) < 0)
        book->failed = -ENOMEM;
    return book->failed;
}

void ml_leak_book_take_over(struct ml_leak_book *book, uint64_t number)
{
    size_t kept = book->ends.len;

    while (kept > 0 && book->ends.items[kept - 1].number >= number)
        kept--;
    for (size_t i = book->changes.len; i > 0 && book->changes.items[i - 1].step > kept; i--)
        book->changes.items[i - 1].step = (uint32_t)kept;
    book->ends.len = kept;
}

void ml_leak_book_end_process(struct ml_leak_book *book, uint32_t process)
{
    const struct ml_replay *replay = book->replay;

    for (size_t i = 0; i < book->entries.len; i++) {
        const struct ml_replay_space *space = &replay->spaces.items[replay->blocks.items[i].space];

        if (book->entries.items[i].group > 0 &&
            replay->processes.items[space->process].number == process)
            leave_group(book, &book->entries.items[i]);
    }
}

/* ---- The whole --------------------------------------------------------- */

int ml_leak_book_init(struct ml_leak_book *book, struct ml_replay *replay, const enum ml_key *by,
                      size_t by_count)
{
    *book = (struct ml_leak_book){.replay = replay, .device = -1, .process = -1};
    replay->on_open = on_open;
    replay->on_close = on_close;
    replay->on_split = on_split;
    replay->ctx = book;
    return ml_block_groups_init(&book->groups, replay, by, by_count);
}

void ml_leak_book_release(struct ml_leak_book *book)
{
    ml_block_groups_release(&book->groups);
    ml_vec_release(&book->entries);
    ml_vec_release(&book->young);
    ml_vec_release(&book->pliable);
    ml_vec_release(&book->ranged);
    ml_vec_release(&book->list);
    ml_vec_release(&book->touched);
    ml_vec_release(&book->changes);
    ml_vec_release(&book->ends);
    *book = (struct ml_leak_book){0};
}
