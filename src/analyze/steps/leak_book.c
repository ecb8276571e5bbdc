/* leak_book.c: see leak_book.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "leak_book.h"

#include <errno.h>

#include "memledger/memledger.h"

#define NUMBER_MAX INT32_MAX /* limit of the bits in an entry */

/* ---- Allocations and frees --------------------------------------------- */

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

static void add_young(struct ml_leak_book *book, uint32_t index)
{
    book->entries.items[index] = (struct ml_leak_entry){.young = true};
    if (book->last_young > 0)
        book->entries.items[book->last_young - 1].number = (index + 1) & NUMBER_MAX;
    else
        book->first_young = index + 1;
    book->last_young = index + 1;
}

static void on_open(void *ctx, const struct ml_block *block)
{
    struct ml_leak_book *book = ctx;
    size_t index = index_of(book, block);

    if (index >= NUMBER_MAX || add_entries(book, index) < 0) {
        book->failed = -ENOMEM;
        return;
    }
    if (!book->entries.items[index].young)
        add_young(book, (uint32_t)index);
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

static bool is_in_group(const struct ml_leak_book *book, size_t index)
{
    return !book->entries.items[index].young && book->entries.items[index].number > 0;
}

static bool is_pliable(const struct ml_leak_book *book, size_t index)
{
    uint32_t space = book->replay->blocks.items[index].space;

    return space < book->ranged.len && book->ranged.items[space];
}

/* The bytes that an entry contributes to its group: its size, unless that can change. */
static uint64_t counted_bytes(const struct ml_leak_book *book, size_t index)
{
    return is_pliable(book, index) ? book->counted_bytes.items[index]
                                   : book->replay->blocks.items[index].size;
}

/* @bytes  to add, modulo 2^64 */
static void resize_group(struct ml_leak_book *book, uint32_t group, uint64_t bytes)
{
    touch(book, group);
    book->list.items[group].bytes += bytes;
    book->bytes += bytes;
}

static void leave_group(struct ml_leak_book *book, size_t index)
{
    uint32_t group = book->entries.items[index].number - 1;

    resize_group(book, group, 0 - counted_bytes(book, index));
    book->list.items[group].blocks--;
    book->entries.items[index].number = 0;
}

static void on_close(void *ctx, const struct ml_block *block, const struct ml_event *event)
{
    struct ml_leak_book *book = ctx;
    size_t index = index_of(book, block);

    (void)event;
    if (book->failed == 0 && index < book->entries.len && is_in_group(book, index))
        leave_group(book, index);
}

/* The rest of a split block is a new, young block. */
static void on_split(void *ctx, const struct ml_block *from, const struct ml_block *rest)
{
    (void)from;
    on_open(ctx, rest);
}

/* ---- The end of a step ------------------------------------------------- */

bool ml_leak_book_selects(const struct ml_leak_book *book, const struct ml_block *block)
{
    const struct ml_replay *replay = book->replay;
    const struct ml_replay_space *space = &replay->spaces.items[block->space];

    return (book->device < 0 || space->device == book->device) &&
           (book->process < 0 || replay->processes.items[space->process].number == book->process);
}

static bool is_looked_at(const struct ml_leak_book *book, const struct ml_block *block)
{
    const struct ml_replay_space *space = &book->replay->spaces.items[block->space];

    return block->live && space->counted && !space->ended && ml_leak_book_selects(book, block);
}

static int make_pliable(struct ml_leak_book *book, uint32_t index)
{
    while (book->counted_bytes.len <= index)
        if (ml_vec_push(&book->counted_bytes, 0) < 0)
            return -ENOMEM;
    book->counted_bytes.items[index] = book->replay->blocks.items[index].size;
    return ml_vec_push(&book->pliable, index);
}

static int make_space_pliable(struct ml_leak_book *book, uint32_t space)
{
    book->ranged.items[space] = true;
    for (size_t i = 0; i < book->entries.len; i++)
        if (is_in_group(book, i) && book->replay->blocks.items[i].space == space &&
            make_pliable(book, (uint32_t)i) < 0)
            return -ENOMEM;
    return 0;
}

/* Recomputes the bytes of all groups. */
static void recount(struct ml_leak_book *book)
{
    book->bytes = 0;
    for (size_t i = 0; i < book->list.len; i++)
        book->list.items[i].bytes = 0;
    for (size_t i = 0; i < book->entries.len; i++)
        if (is_in_group(book, i))
            resize_group(book, book->entries.items[i].number - 1, counted_bytes(book, i));
}

/* A space turns out to have ranges at its first free by range. Blocks already in groups may have
 * changed by then, and the bytes they were counted with are unknown. */
static int look_at_spaces(struct ml_leak_book *book)
{
    const struct ml_replay *replay = book->replay;
    bool found = false;

    while (book->ranged.len < replay->spaces.len)
        if (ml_vec_push(&book->ranged, false) < 0)
            return -ENOMEM;
    for (uint32_t space = 0; space < replay->spaces.len; space++) {
        if (!replay->spaces.items[space].ranged || book->ranged.items[space])
            continue;
        found = true;
        if (make_space_pliable(book, space) < 0)
            return -ENOMEM;
    }
    if (found)
        recount(book);
    return 0;
}

static int enter_group(struct ml_leak_book *book, uint32_t index)
{
    const struct ml_block *block = &book->replay->blocks.items[index];
    int64_t group = ml_block_group_of(&book->groups, block);

    if (group < 0 || group >= NUMBER_MAX ||
        ((size_t)group == book->list.len &&
         ml_vec_push(&book->list, (struct ml_leak_group){.space = block->space}) < 0))
        return -ENOMEM;
    book->entries.items[index].number = (uint32_t)(group + 1) & NUMBER_MAX;
    resize_group(book, (uint32_t)group, block->size);
    book->list.items[group].blocks++;
    if (block->stack != 0)
        book->list.items[group].stack = block->stack;
    book->list.items[group].several_spaces |= book->list.items[group].space != block->space;
    book->list.items[group].not_cache |= block->category != MEMLEDGER_KV_CACHE;
    book->list.items[group].not_libc |= !book->replay->spaces.items[block->space].from_libc;
    return is_pliable(book, index) ? make_pliable(book, index) : 0;
}

/* Adds the blocks that were allocated since the last end and are still live to their groups. */
static int look_at_young(struct ml_leak_book *book)
{
    while (book->first_young > 0) {
        uint32_t index = book->first_young - 1;

        book->first_young = book->entries.items[index].number;
        book->entries.items[index] = (struct ml_leak_entry){0};
        if (is_looked_at(book, &book->replay->blocks.items[index]) && enter_group(book, index) < 0)
            return -ENOMEM;
    }
    book->last_young = 0;
    return 0;
}

/* Updates mappings that were freed in part. They are few. */
static void look_at_pliable(struct ml_leak_book *book)
{
    size_t kept = 0;

    for (size_t i = 0; i < book->pliable.len; i++) {
        uint32_t index = book->pliable.items[i];
        uint64_t bytes = book->replay->blocks.items[index].size;
        uint64_t *counted = &book->counted_bytes.items[index];

        if (!is_in_group(book, index))
            continue;
        if (bytes != *counted)
            resize_group(book, book->entries.items[index].number - 1, bytes - *counted);
        *counted = bytes;
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

/* How many numbers are missing: the program went on counting in the pause, perhaps by tens. */
static uint64_t count_paused(struct ml_leak_book *book, uint64_t number)
{
    uint64_t last = book->ends.len > 0 ? book->ends.items[book->ends.len - 1].number : number;
    uint64_t numbers = number > last ? number - last : 0;

    if (numbers == 0)
        return 0;
    if (book->is_paused)
        return book->stride ? ml_max_u64(numbers / book->stride, 1) - 1 : numbers - 1;
    book->stride = numbers;
    return 0;
}

int ml_leak_book_end(struct ml_leak_book *book, uint64_t number, uint64_t time_ns)
{
    struct ml_leak_end end = {number, time_ns, .paused = count_paused(book, number)};

    book->is_paused = false;
    if (book->failed < 0 || look_at_spaces(book) < 0)
        return book->failed = -ENOMEM;
    look_at_pliable(book);
    if (look_at_young(book) < 0 || write_changes(book) < 0) {
        book->failed = -ENOMEM;
    } else {
        end.bytes = book->bytes;
        book->failed = ml_vec_push(&book->ends, end);
    }
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

        if (is_in_group(book, i) && replay->processes.items[space->process].number == process)
            leave_group(book, i);
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
    ml_vec_release(&book->pliable);
    ml_vec_release(&book->ranged);
    ml_vec_release(&book->counted_bytes);
    ml_vec_release(&book->list);
    ml_vec_release(&book->touched);
    ml_vec_release(&book->changes);
    ml_vec_release(&book->ends);
    ml_vec_release(&book->left);
    *book = (struct ml_leak_book){0};
}
