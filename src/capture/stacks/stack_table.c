/* stack_table.c: see stack_table.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stack_table.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "address_room.h"
#include "libraries.h"
#include "record.h"
#include "recorder.h"

/* An upper limit: in little address space the tables have fewer. */
#define STACKS_MAX (1u << 20)
#define STACKS_LEAST (1u << 6)
#define FRAMES_PER_STACK 16u /* on average */

struct stack {
    uint64_t hash;   /* of its addresses */
    uint32_t frames; /* number of them */
    uint32_t first;  /* index of the first */
    uint32_t number;
    uint32_t checked;   /* the last look at which it was in these libraries */
    uint64_t libraries; /* hash of their numbers */
};

static struct native_stacks {
    uint32_t stacks_max;  /* a power of two */
    uint32_t *slots;      /* twice as many: entry, 0: empty */
    struct stack *stacks; /* entry 0 is not used */
    uint64_t *frames;
    uint32_t used_frames;
    _Atomic uint32_t count;
} native_stacks;

static bool reserve_tables(void)
{
    struct ml_table_array arrays[] = {{sizeof(*native_stacks.frames), FRAMES_PER_STACK, NULL},
                                      {sizeof(*native_stacks.slots), 2, NULL},
                                      {sizeof(*native_stacks.stacks), 1, NULL}};
    uint32_t max;

    if (native_stacks.stacks)
        return true;
    max = ml_address_arrays(STACKS_MAX, STACKS_LEAST, arrays, ML_ARRAY_SIZE(arrays));
    if (!max)
        return false;
    native_stacks.stacks_max = max;
    native_stacks.frames = arrays[0].ret_items;
    native_stacks.stacks = arrays[2].ret_items;
    native_stacks.slots = arrays[1].ret_items;
    return true;
}

uint32_t ml_stack_new_number(void)
{
    static _Atomic uint32_t last;
    uint32_t number = atomic_load_explicit(&last, memory_order_relaxed);

    do {
        if (number + 1 == STACKS_MAX)
            return 0;
    } while (!atomic_compare_exchange_weak_explicit(&last, &number, number + 1,
                                                    memory_order_relaxed, memory_order_relaxed));
    return number + 1;
}

static void announce(const struct stack *s)
{
    uint64_t words[2 + ML_STACK_MAX_FRAMES] = {ml_record_word(ML_REC_STACK, 0, ml_now()),
                                               ml_pair(s->number, s->frames)};

    memcpy(&words[2], native_stacks.frames + s->first, s->frames * sizeof(uint64_t));
    ml_record(words, 2 + s->frames);
}

static uint64_t libraries_of(const uint64_t *frames, uint32_t n)
{
    uint32_t numbers[ML_STACK_MAX_FRAMES];

    for (uint32_t i = 0; i < n; i++)
        numbers[i] = ml_libraries_at(frames[i] - 1);
    return XXH3_64bits(numbers, n * sizeof(*numbers));
}

/* Whether the stack is still in the libraries that it was announced with. */
static bool still_holds(struct stack *s, uint32_t look)
{
    if (s->checked == look)
        return true;
    if (s->libraries != libraries_of(native_stacks.frames + s->first, s->frames))
        return false;
    announce(s);
    s->checked = look;
    return true;
}

static bool has_frames(const struct stack *s, const uint64_t *frames, uint32_t n, uint64_t hash)
{
    return s->hash == hash && s->frames == n &&
           !memcmp(native_stacks.frames + s->first, frames, n * sizeof(*frames));
}

/* The i-th slot after the hash's own. */
static uint32_t *slot_at(uint64_t hash, uint32_t i)
{
    return &native_stacks.slots[((uint32_t)hash + i) & (2 * native_stacks.stacks_max - 1)];
}

static uint32_t room_for(uint32_t n)
{
    bool fits = native_stacks.count + 1 < native_stacks.stacks_max &&
                native_stacks.used_frames + n <= native_stacks.stacks_max * FRAMES_PER_STACK;
    uint32_t number = fits ? ml_stack_new_number() : 0;

    if (!number)
        ml_recorder_detail_lost();
    return number;
}

static uint32_t add(const struct stack *stack, const uint64_t *frames, uint32_t *slot)
{
    uint32_t entry = native_stacks.count + 1;

    memcpy(native_stacks.frames + stack->first, frames, stack->frames * sizeof(*frames));
    native_stacks.stacks[entry] = *stack;
    native_stacks.used_frames += stack->frames;
    /* Pairs with the acquire load in ml_stack_table_announce: the stack is written. */
    atomic_store_explicit(&native_stacks.count, entry, memory_order_release);
    announce(&native_stacks.stacks[entry]);
    *slot = entry;
    return stack->number;
}

static uint32_t find_or_add(const uint64_t *frames, uint32_t n, uint32_t look)
{
    struct stack new_stack = {
        .hash = ml_stack_hash_all(frames, n),
        .frames = n,
        .first = native_stacks.used_frames,
        .checked = look,
    };
    uint32_t *slot;

    for (uint32_t i = 0; *(slot = slot_at(new_stack.hash, i)); i++) {
        struct stack *s = &native_stacks.stacks[*slot];
        if (has_frames(s, frames, n, new_stack.hash) && still_holds(s, look))
            return s->number;
    }
    new_stack.number = room_for(n);
    if (!new_stack.number)
        return 0;
    new_stack.libraries = libraries_of(frames, n);
    return add(&new_stack, frames, slot);
}

uint32_t ml_stack_table_number(const uint64_t *frames, uint32_t n, uint32_t look)
{
    if (!n)
        return 0;
    if (!look || !reserve_tables()) {
        ml_recorder_detail_lost();
        return 0;
    }
    return find_or_add(frames, n, look);
}

uint64_t ml_stack_hash_all(const uint64_t *frames, uint32_t n)
{
    uint64_t hash = 0;

    while (n--)
        hash = ml_stack_hash(hash, frames[n]);
    return hash;
}

/* Announces only stacks that may still occur: the libraries that are loaded now give addresses
 * their meaning.
 *
 * Takes no lock, because the caller may hold any of the recorder's. A thread's first record holds
 * announce_lock, and is made under the names' lock, which comes after ours, or under ours; a thread
 * that holds ours waits for announce_lock in its own first record. So this reads only data that
 * does not change once `count` covers it (addresses, index, hash of the libraries), and atomics
 * (which libraries are loaded). A concurrent look by another thread can make this skip a stack that
 * is still valid, or announce one too many; because the look's number has changed, still_holds
 * announces every stack again before its number is used. */
void ml_stack_table_announce(void)
{
    uint32_t n = atomic_load_explicit(&native_stacks.count, memory_order_acquire);

    ml_libraries_announce();
    for (uint32_t i = 1; i <= n; i++) {
        const struct stack *s = &native_stacks.stacks[i];
        if (s->libraries == libraries_of(native_stacks.frames + s->first, s->frames))
            announce(s);
    }
}
