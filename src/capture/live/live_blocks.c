/* live_blocks.c: see live_blocks.h.
 *
 * 64 tables by a hash of the address, each with a lock: threads seldom meet. fork() holds all
 * locks, so that a child's copy is consistent, unless one cannot be taken within a second. A table
 * that then, or after a raw clone(), has a half-finished change is rebuilt from its entries
 * (fork_lock.h). A table uses open addressing; a removal moves later entries up. It doubles when
 * half full, in separate mappings. An entry of 0 bytes is a block that was freed during the
 * seeding; otherwise there are no tombstones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "live_blocks.h"

#include <assert.h>
#include <pthread.h>
#include <stdalign.h>
#include <string.h>

#include "fork_lock.h"
#include "frame_mark.h"
#include "live_log.h"
#include "owner_lock.h"
#include "recorder.h"
#include "sys.h"

#define SHARD_BITS 6
#define SHARDS (1u << SHARD_BITS)
#define FIRST_BITS 8

/* A whole block in two words. */
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

/* Entries begin at the start of a page, so the low bits of the address have their number, as a
 * power of two. One word, so that no thread finds one without the other. */
#define BITS_MASK ((uintptr_t)63)

struct shard {
    alignas(64) uintptr_t entries_and_bits; /* 0: none yet */
    uint32_t used;
    bool changing; /* see fork_lock.h */
};

struct sums {
    alignas(64) _Atomic uint64_t live;
    _Atomic uint64_t peak;
    _Atomic uint64_t by_phase[ML_PHASES];
};

struct padded_lock {
    alignas(64) struct ml_fork_lock lock;
};

alignas(64) ML_READ_ALWAYS _Atomic uint32_t ml_live_on; /* the first of them */

static struct shard shards[SHARDS];
/* For the shards, then for the log; cleared in a forked child. */
static struct padded_lock *locks;
static struct sums sums[ML_LIVE_DEVICES];
static _Atomic uint64_t missed;
static _Atomic bool seeding;
static struct ml_owner_lock switch_lock;
static _Atomic unsigned users; /* of enum ml_live_user; changed with the lock */

/* The table that this thread is in: a signal handler that enters again must not wait for it. The
 * mark on the stack shows whether a handler has left it by longjmp. */
static __thread struct {
    const volatile uint64_t *at; /* NULL: in none; set before the other fields */
    struct shard *shard;         /* the shard whose lock it has */
    int cancel_state;
} inside;

/* All tables, while this thread forks: a bit for each lock that it got. */
static __thread bool forking;
static __thread uint64_t held_for_fork;
static_assert(SHARDS <= 64, "a bit each");

/* ---- Entering ---------------------------------------------------------------- */

static uint64_t hash_of(uint64_t address)
{
    return (address >> 4) * 0x9e3779b97f4a7c15;
}

static ML_NOINLINE void count_missed(void)
{
    atomic_fetch_add_explicit(&missed, 1, memory_order_relaxed);
    ml_recorder_cannot_follow();
}

static struct ml_fork_lock *lock_of(const struct shard *s)
{
    return &locks[s - shards].lock;
}

static void mend(struct shard *s);

/* Whether another call of this thread is in a table. A call that was left by longjmp does not
 * count: its table, and the log, become free
 * again, with a half-finished change. */
static ML_NOINLINE bool is_inside(void)
{
    struct shard *left = inside.shard;

    if (forking || ml_frame_stands(inside.at))
        return true;
    inside.shard = NULL;
    inside.at = NULL;
    if (left)
        ml_unlock(&lock_of(left)->lock);
    (void)ml_live_log_is_inside();
    pthread_setcancelstate(inside.cancel_state, NULL);
    return false;
}

/* Disables cancellation until the thread leaves. A handler sees that the thread is inside before
 * anything else changes. */
static ML_ALWAYS_INLINE enum ml_fork_entry lock_shard(struct shard *s, volatile uint64_t *mark)
{
    enum ml_fork_entry entry;

    *mark = ml_frame_mark(mark);
    atomic_signal_fence(memory_order_seq_cst);
    inside.at = mark;
    atomic_signal_fence(memory_order_seq_cst);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &inside.cancel_state);
    entry = ml_fork_lock_enter(lock_of(s), &s->changing);
    if (ML_LIKELY(entry != ML_FORK_REFUSED)) {
        inside.shard = s;
        return entry;
    }
    pthread_setcancelstate(inside.cancel_state, NULL);
    inside.at = NULL;
    return entry;
}

/* `mark` is 0, and on the caller's stack. NULL: not entered, and counted. */
static ML_ALWAYS_INLINE struct shard *enter(uint64_t hash, volatile uint64_t *mark)
{
    struct shard *s = &shards[hash >> (64 - SHARD_BITS)];
    enum ml_fork_entry entry = ML_FORK_REFUSED;

    if (ML_LIKELY(!forking && !inside.at) || !is_inside())
        entry = lock_shard(s, mark);
    if (ML_LIKELY(entry == ML_FORK_WHOLE))
        return s;
    count_missed();
    if (entry == ML_FORK_REFUSED)
        return NULL;
    mend(s);
    return s;
}

static ML_ALWAYS_INLINE void leave(struct shard *s)
{
    int cancel_state = inside.cancel_state;

    /* First: a handler may leave the release by longjmp when another thread has the lock. */
    inside.shard = NULL;
    atomic_signal_fence(memory_order_seq_cst);
    ml_fork_lock_leave(lock_of(s), &s->changing);
    atomic_signal_fence(memory_order_seq_cst);
    inside.at = NULL;
    pthread_setcancelstate(cancel_state, NULL);
}

/* ---- Forks -------------------------------------------------------------------- */

/* A handler that forks inside the table finds a lock taken by its own thread, and leaves all as
 * they are. After one wait in vain, the rest are only tried. */
static void before_fork(void)
{
    bool patient = true;

    if (forking || (inside.at && is_inside()))
        return;
    forking = true;
    for (unsigned i = 0; i < SHARDS; i++) {
        struct ml_lock *l = &locks[i].lock.lock;
        bool got = ml_lock_at_once(l) || (patient && ml_lock_or_give_up(l));

        patient &= got;
        held_for_fork |= (uint64_t)got << i;
    }
    ml_live_log_before_fork();
}

static void after_fork(void)
{
    if (!forking)
        return;
    ml_live_log_after_fork();
    for (unsigned i = 0; i < SHARDS; i++) {
        if (held_for_fork >> i & 1)
            ml_unlock(&locks[i].lock.lock);
    }
    held_for_fork = 0;
    forking = false;
}

/* ---- Entries ------------------------------------------------------------------- */

static struct entry *entries_of(const struct shard *s)
{
    return (struct entry *)(s->entries_and_bits & ~BITS_MASK);
}

static uint32_t bits_of(const struct shard *s)
{
    return (uint32_t)(s->entries_and_bits & BITS_MASK);
}

static uint32_t room_of(const struct shard *s)
{
    return 1u << bits_of(s);
}

static uint32_t home_of(const struct shard *s, uint64_t hash)
{
    return (uint32_t)(hash >> (64 - SHARD_BITS - bits_of(s))) & (room_of(s) - 1);
}

/* The block's entry, or the empty one for it. */
static struct entry *look_up(const struct shard *s, uint64_t address, uint64_t hash)
{
    struct entry *entries = entries_of(s);
    uint32_t mask = room_of(s) - 1;
    uint32_t i = home_of(s, hash);

    while (entries[i].address && entries[i].address != address)
        i = (i + 1) & mask;
    return &entries[i];
}

/* The shard's entries, each once, in a new table of that size. */
static bool rebuild(struct shard *s, uint32_t bits)
{
    const struct entry *old = entries_of(s);
    uint32_t old_room = old ? room_of(s) : 0;
    void *map = ml_sys_map(sizeof(struct entry) << bits, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    struct shard built = {.entries_and_bits = (uintptr_t)map | bits};

    if (!map)
        return false;
    for (uint32_t i = 0; i < old_room; i++) {
        struct entry *to =
            old[i].address ? look_up(&built, old[i].address, hash_of(old[i].address)) : NULL;
        if (to && !to->address) {
            *to = old[i];
            built.used++;
        }
    }
    s->entries_and_bits = built.entries_and_bits;
    s->used = built.used;
    if (old)
        ml_sys_unmap((void *)(uintptr_t)old, sizeof(struct entry) * old_room);
    return true;
}

/* After a half-finished change an entry may be there twice, or in the wrong place. Without memory
 * for another table it stays like that. */
static ML_NOINLINE void mend(struct shard *s)
{
    (void)rebuild(s, bits_of(s));
}

static bool grow(struct shard *s)
{
    return rebuild(s, s->entries_and_bits ? bits_of(s) + 1 : FIRST_BITS);
}

static bool has_room(struct shard *s)
{
    if (ML_LIKELY(s->used < room_of(s) / 2) || grow(s))
        return true;
    /* One place stays empty, otherwise look_up would not end. */
    return s->used + 1 < room_of(s);
}

/* Moves up later entries that would no longer be found. */
static void erase(struct shard *s, struct entry *e)
{
    struct entry *entries = entries_of(s);
    uint32_t mask = room_of(s) - 1;
    uint32_t hole = (uint32_t)(e - entries);

    for (uint32_t i = (hole + 1) & mask; entries[i].address; i = (i + 1) & mask) {
        uint32_t home = home_of(s, hash_of(entries[i].address));
        if (((i - home) & mask) < ((i - hole) & mask))
            continue;
        entries[hole] = entries[i];
        hole = i;
    }
    entries[hole].address = 0;
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
    ml_live_log(e->phase, e->device, e->address, (int64_t)e->bytes);
}

static void count_out(const struct entry *e)
{
    struct sums *of = &sums[e->device];

    atomic_fetch_sub_explicit(&of->live, e->bytes, memory_order_relaxed);
    atomic_fetch_sub_explicit(&of->by_phase[e->phase], e->bytes, memory_order_relaxed);
    ml_live_log(e->phase, e->device, e->address, -(int64_t)e->bytes);
}

/* ---- Blocks -------------------------------------------------------------------- */

/* If a block is live at that address already, its free was not recorded. */
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
    volatile uint64_t mark = 0;
    struct shard *s = enter(hash, &mark);
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
        count_missed();
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

/* For a block that is older than the table: a recording that began with the process has its
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

void ml_live_seed_begin(void)
{
    /* Pairs with the load in remember_free: a block whose free does not see it is not listed. */
    atomic_store(&seeding, true);
}

void ml_live_seed_end(void)
{
    volatile uint64_t mark = 0;

    atomic_store(&seeding, false);
    for (unsigned i = 0; i < SHARDS && atomic_load_explicit(&ml_live_on, memory_order_acquire);
         i++) {
        struct shard *s = enter((uint64_t)i << (64 - SHARD_BITS), &mark);

        for (uint32_t k = 0; s && k < room_of(s); k++) {
            struct entry *e = &entries_of(s)[k];
            while (e->address && !e->bytes)
                erase(s, e); /* which may move another one here */
        }
        if (s)
            leave(s);
    }
}

static ML_NOINLINE void remember_free(struct shard *s, uint64_t address, uint64_t hash)
{
    if (!atomic_load(&seeding))
        return;
    if (!has_room(s)) {
        count_missed();
        return;
    }
    *look_up(s, address, hash) = (struct entry){.address = address};
    s->used++;
}

uint32_t ml_live_remove(const void *p)
{
    uint64_t hash = hash_of((uintptr_t)p);
    volatile uint64_t mark = 0;
    struct shard *s = enter(hash, &mark);
    struct entry *at;
    uint32_t recording;

    if (!s)
        return ml_recorder_recording();
    at = look_up(s, (uintptr_t)p, hash);
    recording = at->address ? at->recording : recording_of_older();
    if (at->address && at->bytes) {
        count_out(at);
        erase(s, at);
    } else if (!at->address) {
        remember_free(s, (uintptr_t)p, hash);
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
    volatile uint64_t mark = 0;
    struct shard *s;
    const struct entry *at;
    bool found;

    if (!address || !atomic_load_explicit(&ml_live_on, memory_order_acquire) ||
        !(s = enter(hash, &mark)))
        return false;
    at = look_up(s, address, hash);
    found = at->address && at->bytes;
    if (found)
        *ret = block_of(at);
    leave(s);
    return found;
}

void ml_live_rephase(uint64_t address, enum ml_phase phase)
{
    uint64_t hash = hash_of(address);
    volatile uint64_t mark = 0;
    struct shard *s;
    struct entry *at;

    if (!address || !atomic_load_explicit(&ml_live_on, memory_order_acquire) ||
        !(s = enter(hash, &mark)))
        return;
    at = look_up(s, address, hash);
    if (at->address && at->bytes && at->phase != phase) {
        struct entry moved = *at;
        moved.phase = phase & 7;
        /* Adding before removing would look like a peak. */
        put(s, at, moved);
    }
    leave(s);
}

void ml_live_tell(unsigned recording, void (*tell)(const struct ml_live_block *))
{
    volatile uint64_t mark = 0;

    for (unsigned i = 0; i < SHARDS && atomic_load_explicit(&ml_live_on, memory_order_acquire);
         i++) {
        struct shard *s = enter((uint64_t)i << (64 - SHARD_BITS), &mark);

        for (uint32_t k = 0; s && k < room_of(s); k++) {
            struct entry *e = &entries_of(s)[k];
            if (!e->address || !e->bytes || e->recording == recording)
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
    _Atomic uint64_t *sum = phase < ML_PHASES ? &of->by_phase[phase] : &of->live;

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
    /* Covers allocations between the two. */
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
        locks = ml_recorder_map_wiped((SHARDS + 1) * sizeof(*locks));
    for (unsigned i = 0; locks && i < SHARDS; i++) {
        if (!shards[i].entries_and_bits && !grow(&shards[i]))
            return false;
    }
    if (!locks || pthread_atfork(before_fork, after_fork, after_fork))
        return false;
    ml_live_log_init(&locks[SHARDS].lock);
    return true;
}

/* Blocks from before the table was switched off: most of them are gone by now. */
static bool empty(void)
{
    volatile uint64_t mark = 0;

    for (unsigned i = 0; i < SHARDS; i++) {
        struct shard *s = enter((uint64_t)i << (64 - SHARD_BITS), &mark);

        if (!s)
            return false;
        for (uint32_t k = 0; k < room_of(s); k++) {
            if (entries_of(s)[k].address)
                count_out(&entries_of(s)[k]);
            entries_of(s)[k].address = 0;
        }
        s->used = 0;
        leave(s);
    }
    return true;
}

bool ml_live_switch_on(enum ml_live_user user)
{
    static bool prepared;

    if ((users & user) || !ml_owner_lock(&switch_lock))
        return ml_live_on;
    if (!ml_live_on && (prepared ? empty() : prepare())) {
        prepared = true;
        /* Pairs with the acquire loads of hooks and questions: tables and locks are set. */
        atomic_store_explicit(&ml_live_on, 1, memory_order_release);
    }
    if (ml_live_on)
        users |= user;
    ml_owner_unlock(&switch_lock);
    return ml_live_on;
}

bool ml_live_switch_off(enum ml_live_user user)
{
    bool last;

    if (!ml_owner_lock(&switch_lock))
        return false;
    last = users == (unsigned)user;
    users &= ~(unsigned)user;
    if (last)
        atomic_store_explicit(&ml_live_on, 0, memory_order_release);
    ml_owner_unlock(&switch_lock);
    return last;
}
