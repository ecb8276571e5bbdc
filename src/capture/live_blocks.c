/* live_blocks.c: see live_blocks.h.
 *
 * 64 tables by a hash of the address, each with its lock: threads seldom meet. The
 * locks lie in memory that a forked child sees cleared, and are all held across
 * fork(), so that a child's copy is whole. A table is open addressing; removing
 * moves later entries up, so there are no gravestones. It doubles when half full,
 * in mappings of its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "live_blocks.h"

#include <assert.h>
#include <pthread.h>
#include <stdalign.h>
#include <string.h>

#include "live_log.h"
#include "lock.h"
#include "recorder.h"
#include "sys.h"

#define SHARD_BITS 6
#define SHARDS (1u << SHARD_BITS)
#define FIRST_BITS 8

/* All of a block in two words. */
struct entry {
    uint64_t address; /* 0: empty */
    uint64_t bytes : 44;
    uint64_t phase : 3;
    uint64_t device : 6;
    uint64_t recording : 11;
};
#define BYTES_MAX (((uint64_t)1 << 44) - 1)
#define RECORDING_MASK ((1u << 11) - 1)
static_assert(sizeof(struct entry) == 16, "two words");
static_assert(ML_LIVE_DEVICES <= 64, "a device has six bits");
static_assert(ML_RECORDINGS_MAX <= RECORDING_MASK, "a recording has eleven bits");

struct shard {
    alignas(64) struct entry *entries;
    uint32_t bits;
    uint32_t used;
};

struct sums {
    alignas(64) _Atomic uint64_t live;
    _Atomic uint64_t peak;
    _Atomic uint64_t by_phase[ML_LIVE_PHASES];
};

struct padded_lock {
    alignas(64) struct ml_lock lock;
};

alignas(64) ML_READ_ALWAYS _Atomic uint32_t ml_live_on; /* the first of them */

static struct shard shards[SHARDS];
static struct padded_lock *locks; /* of the shards; cleared in a forked child */
static struct sums sums[ML_LIVE_DEVICES];
static _Atomic uint64_t missed;
static struct ml_lock switch_lock;

/* This thread is in a table: a signal handler that comes back in here must not
 * wait for it. */
static __thread bool inside;

/* ---- Entering ---------------------------------------------------------------- */

static uint64_t hash_of(uint64_t address)
{
    return (address >> 4) * 0x9e3779b97f4a7c15;
}

static ML_ALWAYS_INLINE struct shard *enter(uint64_t hash)
{
    unsigned i = (unsigned)(hash >> (64 - SHARD_BITS));

    if (ML_UNLIKELY(inside)) {
        atomic_fetch_add_explicit(&missed, 1, memory_order_relaxed);
        return NULL;
    }
    inside = true;
    ml_lock(&locks[i].lock);
    return &shards[i];
}

static ML_ALWAYS_INLINE void leave(const struct shard *s)
{
    ml_unlock(&locks[s - shards].lock);
    inside = false;
}

/* A handler that forks inside the table finds its locks taken, and leaves them. */
static bool locked_for_fork;

static void before_fork(void)
{
    if (inside)
        return;
    inside = true;
    for (unsigned i = 0; i < SHARDS; i++)
        ml_lock(&locks[i].lock);
    ml_live_log_before_fork();
    locked_for_fork = true;
}

static void after_fork(void)
{
    if (!locked_for_fork)
        return;
    locked_for_fork = false;
    ml_live_log_after_fork();
    for (unsigned i = 0; i < SHARDS; i++)
        ml_unlock(&locks[i].lock);
    inside = false;
}

/* ---- Entries ------------------------------------------------------------------- */

static uint32_t home_of(const struct shard *s, uint64_t hash)
{
    return (uint32_t)(hash >> (64 - SHARD_BITS - s->bits)) & ((1u << s->bits) - 1);
}

/* The block's entry, or the empty one where it would go. */
static struct entry *look_up(const struct shard *s, uint64_t address, uint64_t hash)
{
    uint32_t mask = (1u << s->bits) - 1;
    uint32_t i = home_of(s, hash);

    while (s->entries[i].address && s->entries[i].address != address)
        i = (i + 1) & mask;
    return &s->entries[i];
}

static struct entry *map_entries(uint32_t bits)
{
    return ml_sys_map(sizeof(struct entry) << bits, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

static bool grow(struct shard *s)
{
    uint32_t bits = s->entries ? s->bits + 1 : FIRST_BITS;
    struct shard grown = {.entries = map_entries(bits), .bits = bits, .used = s->used};

    if (!grown.entries)
        return false;
    for (uint32_t i = 0; s->entries && i < 1u << s->bits; i++) {
        const struct entry *e = &s->entries[i];
        if (e->address)
            *look_up(&grown, e->address, hash_of(e->address)) = *e;
    }
    if (s->entries)
        ml_sys_unmap(s->entries, sizeof(struct entry) << s->bits);
    *s = grown;
    return true;
}

static bool has_room(struct shard *s)
{
    if (ML_LIKELY(s->used < 1u << (s->bits - 1)) || grow(s))
        return true;
    /* One place stays empty, or look_up would not end. */
    return s->used + 1 < 1u << s->bits;
}

/* Entries behind it that would no longer be found move up. */
static void erase(struct shard *s, struct entry *e)
{
    uint32_t mask = (1u << s->bits) - 1;
    uint32_t hole = (uint32_t)(e - s->entries);

    for (uint32_t i = (hole + 1) & mask; s->entries[i].address; i = (i + 1) & mask) {
        uint32_t home = home_of(s, hash_of(s->entries[i].address));
        if (((i - home) & mask) < ((i - hole) & mask))
            continue;
        s->entries[hole] = s->entries[i];
        hole = i;
    }
    s->entries[hole].address = 0;
    s->used--;
}

/* ---- Sums ---------------------------------------------------------------------- */

static void raise_peak(struct sums *of, uint64_t live)
{
    uint64_t peak = atomic_load_explicit(&of->peak, memory_order_relaxed);

    while (live > peak && !atomic_compare_exchange_weak_explicit(
                              &of->peak, &peak, live, memory_order_relaxed, memory_order_relaxed))
        continue;
}

static void count_in(const struct entry *e)
{
    struct sums *of = &sums[e->device];
    uint64_t live = atomic_fetch_add_explicit(&of->live, e->bytes, memory_order_relaxed) + e->bytes;

    atomic_fetch_add_explicit(&of->by_phase[e->phase], e->bytes, memory_order_relaxed);
    raise_peak(of, live);
    if (e->phase == ML_LIVE_BACKWARD)
        ml_live_log(e->device, e->address, (int64_t)e->bytes);
}

static void count_out(const struct entry *e)
{
    struct sums *of = &sums[e->device];

    atomic_fetch_sub_explicit(&of->live, e->bytes, memory_order_relaxed);
    atomic_fetch_sub_explicit(&of->by_phase[e->phase], e->bytes, memory_order_relaxed);
    if (e->phase == ML_LIVE_BACKWARD)
        ml_live_log(e->device, e->address, -(int64_t)e->bytes);
}

/* ---- Blocks -------------------------------------------------------------------- */

/* A block where one is live already: the end of that one was not seen. */
static void put(struct shard *s, struct entry *at, struct entry e)
{
    if (at->address)
        count_out(at);
    else
        s->used++;
    *at = e;
    count_in(&e);
}

static bool add(struct entry e, bool only_new)
{
    uint64_t hash = hash_of(e.address);
    struct shard *s = enter(hash);
    struct entry *at;
    bool added = false;

    if (!s)
        return false;
    if (ML_LIKELY(has_room(s))) {
        at = look_up(s, e.address, hash);
        added = !only_new || !at->address;
        if (added)
            put(s, at, e);
    } else {
        atomic_fetch_add_explicit(&missed, 1, memory_order_relaxed);
    }
    leave(s);
    return added;
}

void ml_live_add(uint32_t space, unsigned device, const void *p, uint64_t bytes)
{
    add((struct entry){.address = (uintptr_t)p,
                       .bytes = ml_min_u64(bytes, BYTES_MAX),
                       .phase = ml_phase_now() & 7,
                       .device = device & 63,
                       .recording = (space ? ml_record_place() : 0) & RECORDING_MASK},
        false);
}

/* Of a block that is older than the table: a recording that began with the process has its
 * allocation. */
static uint32_t recording_of_older(void)
{
    return ml_recorder_is_late() ? 0 : ml_recorder_recording();
}

bool ml_live_seed(unsigned device, uint64_t address, uint64_t bytes)
{
    if (!address || device >= ML_LIVE_DEVICES ||
        !atomic_load_explicit(&ml_live_on, memory_order_acquire))
        return false;
    return add((struct entry){.address = address,
                              .bytes = ml_min_u64(bytes, BYTES_MAX),
                              .device = device & 63,
                              .recording = recording_of_older() & RECORDING_MASK},
               true);
}

uint32_t ml_live_remove(const void *p)
{
    uint64_t hash = hash_of((uintptr_t)p);
    struct shard *s = enter(hash);
    struct entry *at;
    uint32_t recording;

    if (!s)
        return ml_recorder_recording();
    at = look_up(s, (uintptr_t)p, hash);
    recording = at->address ? at->recording : recording_of_older();
    if (at->address) {
        count_out(at);
        erase(s, at);
    }
    leave(s);
    return recording;
}

static struct ml_live_block block_of(const struct entry *e)
{
    return (struct ml_live_block){e->address, e->bytes, e->device, e->phase, e->recording};
}

bool ml_live_block_find(uint64_t address, struct ml_live_block *ret)
{
    uint64_t hash = hash_of(address);
    struct shard *s;
    const struct entry *at;
    bool found;

    if (!address || !atomic_load_explicit(&ml_live_on, memory_order_acquire) || !(s = enter(hash)))
        return false;
    at = look_up(s, address, hash);
    found = at->address;
    if (found)
        *ret = block_of(at);
    leave(s);
    return found;
}

void ml_live_rephase(uint64_t address, enum ml_live_phase phase)
{
    uint64_t hash = hash_of(address);
    struct shard *s;
    struct entry *at;

    if (!address || !atomic_load_explicit(&ml_live_on, memory_order_acquire) || !(s = enter(hash)))
        return;
    at = look_up(s, address, hash);
    if (at->address && at->phase != phase) {
        struct entry moved = *at;
        moved.phase = phase & 7;
        /* In before out would pass for a peak. */
        put(s, at, moved);
    }
    leave(s);
}

void ml_live_tell(unsigned recording, void (*tell)(const struct ml_live_block *))
{
    for (unsigned i = 0; i < SHARDS && atomic_load_explicit(&ml_live_on, memory_order_acquire);
         i++) {
        struct shard *s = enter((uint64_t)i << (64 - SHARD_BITS));

        for (uint32_t k = 0; s && k < 1u << s->bits; k++) {
            struct entry *e = &s->entries[k];
            if (!e->address || e->recording == recording)
                continue;
            e->recording = recording & RECORDING_MASK;
            tell(&(struct ml_live_block){e->address, e->bytes, e->device, e->phase, recording});
        }
        if (s)
            leave(s);
    }
}

/* ---- Questions ----------------------------------------------------------------- */

uint64_t ml_live_bytes(unsigned device, unsigned phase)
{
    struct sums *of = &sums[device % ML_LIVE_DEVICES];
    _Atomic uint64_t *sum = phase < ML_LIVE_PHASES ? &of->by_phase[phase] : &of->live;

    return atomic_load_explicit(sum, memory_order_relaxed);
}

uint64_t ml_live_peak(unsigned device)
{
    return atomic_load_explicit(&sums[device % ML_LIVE_DEVICES].peak, memory_order_relaxed);
}

void ml_live_reset_peak(unsigned device)
{
    struct sums *of = &sums[device % ML_LIVE_DEVICES];

    atomic_store_explicit(&of->peak, atomic_load_explicit(&of->live, memory_order_relaxed),
                          memory_order_relaxed);
    /* What came between the two. */
    raise_peak(of, atomic_load_explicit(&of->live, memory_order_relaxed));
}

uint64_t ml_live_missed(void)
{
    return atomic_load_explicit(&missed, memory_order_relaxed);
}

/* ---- Switching on -------------------------------------------------------------- */

static bool prepare(void)
{
    if (!locks)
        locks = ml_recorder_map_wiped(SHARDS * sizeof(*locks));
    for (unsigned i = 0; locks && i < SHARDS; i++) {
        if (!shards[i].entries && !grow(&shards[i]))
            return false;
    }
    return locks && !pthread_atfork(before_fork, after_fork, after_fork);
}

bool ml_live_switch_on(void)
{
    ml_lock(&switch_lock);
    if (!ml_live_on && prepare())
        /* Pairs with the hooks' and questions' acquire loads: tables and locks are
         * there. */
        atomic_store_explicit(&ml_live_on, 1, memory_order_release);
    ml_unlock(&switch_lock);
    return ml_live_on;
}
