/* turns.c: see turns.h.
 *
 * The table is in memory that the kernel clears in a forked child, with its lock: the child has
 * none of its parent's blocks in the trace.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "turns.h"

#include <errno.h>
#include <stddef.h>

#include "address_room.h"
#include "lock.h"
#include "record.h"
#include "recorder.h"
#include "sys.h"

#define ENTRIES_MAX (1u << 20)
#define ENTRIES_LEAST (1u << 10)
#define TAKE_PATIENCE_S 1
#define RESUME_PATIENCE_S 10

struct entry {
    uint64_t addr; /* 0: unused */
    uint64_t bytes;
    uint64_t label; /* category:name as in the record, 0: none */
    uint32_t space;
};

struct gap {
    struct ml_lock lock; /* its holders are thread_number() */
    /* A thread could not get the lock in time: its holder is stuck, or ended there. Nothing is
     * followed until the next recording, so that no thread waits again. */
    _Atomic bool given_up;
    uint32_t used; /* entries; more if a change was left by longjmp */
    uint32_t hole; /* index + 1 of the entry that is being removed, 0: none */
    struct entry entries[];
};

const _Atomic uint32_t *_Atomic ml_turn;
_Atomic uint32_t ml_turn_taken;

static const struct ml_session *_Atomic session;
static struct gap *gap;
static uint32_t entry_count; /* a power of two */
static __thread bool resuming;

bool ml_turns_resuming(void)
{
    return resuming;
}

/* ---- The table ---------------------------------------------------------- */

static size_t gap_bytes(uint32_t entries)
{
    return sizeof(struct gap) + entries * sizeof(struct entry);
}

/* The first thread that asks decides for all. */
static uint32_t agreed_entries(void)
{
    uint32_t entries = ENTRIES_MAX, agreed = 0;

    while (gap_bytes(entries) > ml_address_share() && entries > ENTRIES_LEAST)
        entries /= 2;
    return __atomic_compare_exchange_n(&entry_count, &agreed, entries, false, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED)
               ? entries
               : agreed;
}

/* Two threads may do this at once: one of them gives its table back. */
static struct gap *gap_table(void)
{
    struct gap *g = __atomic_load_n(&gap, __ATOMIC_ACQUIRE);
    struct gap *none = NULL;

    if (g)
        return g;
    g = ml_recorder_map_wiped(gap_bytes(agreed_entries()));
    if (!g)
        return NULL;
    if (__atomic_compare_exchange_n(&gap, &none, g, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return g;
    ml_recorder_unmap_wiped(g, gap_bytes(entry_count));
    return none;
}

static uint32_t home_of(uint64_t addr, uint32_t space)
{
    return (uint32_t)(((addr >> 4) + space) * UINT64_C(0x9e3779b97f4a7c15) >> 40) &
           (entry_count - 1);
}

/* The block's entry, or the unused one at which the search for it ends. */
static struct entry *find(struct gap *g, uint64_t addr, uint32_t space)
{
    uint32_t at = home_of(addr, space);

    while (g->entries[at].addr && (g->entries[at].addr != addr || g->entries[at].space != space))
        at = (at + 1) & (entry_count - 1);
    return &g->entries[at];
}

/* The stores before are complete when a handler interrupts one after it. */
static void order_stores(void)
{
    atomic_signal_fence(memory_order_seq_cst);
}

/* Moves later entries up, so that no search ends too early. Until the hole is elsewhere, the entry
 * that fills it is there twice, so an interrupted move can be repeated. */
static void close_hole(struct gap *g, uint32_t hole)
{
    uint32_t mask = entry_count - 1, at = hole;

    for (;;) {
        at = (at + 1) & mask;
        if (!g->entries[at].addr)
            break;
        uint32_t home = home_of(g->entries[at].addr, g->entries[at].space);
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            g->entries[hole] = g->entries[at];
            hole = at;
            order_stores();
            g->hole = hole + 1;
            order_stores();
        }
    }
    g->entries[hole].addr = 0;
    order_stores();
    g->hole = 0;
}

static void remove_entry(struct gap *g, struct entry *e)
{
    g->hole = (uint32_t)(e - g->entries) + 1;
    order_stores();
    close_hole(g, g->hole - 1);
    order_stores();
    g->used--;
}

/* After a longjmp out of a change: an entry that was being removed is gone, one that was being
 * added is not there, or is complete. */
static void repair(struct gap *g)
{
    if (g->hole)
        close_hole(g, g->hole - 1);
}

/* ---- The lock ----------------------------------------------------------- */

/* Even, as a holder of a lock is. */
static uint32_t thread_number(void)
{
    static _Atomic uint32_t last;
    static __thread uint32_t number;

    if (!number)
        number = atomic_fetch_add_explicit(&last, 2, memory_order_relaxed) + 2;
    return number;
}

/* Blocking signals for each block would take longer than all the rest. A handler's own record waits
 * until this thread's record is complete (ml_record_nested), so a thread that has the lock already
 * has come back from a handler by longjmp. It may have interrupted any store. */
static bool enter(struct gap *g, unsigned patience_s)
{
    if (ML_UNLIKELY(ml_lock_is_held_by(&g->lock, thread_number()))) {
        repair(g);
        return true;
    }
    if (atomic_load_explicit(&g->given_up, memory_order_relaxed))
        return false;
    if (!ml_lock_within_as(&g->lock, thread_number(), patience_s)) {
        atomic_store_explicit(&g->given_up, true, memory_order_relaxed);
        return false;
    }
    return true;
}

/* Blocks of a pause in which an earlier recording ended: their frees were not seen since. */
static void forget_blocks(void)
{
    struct gap *g = __atomic_load_n(&gap, __ATOMIC_ACQUIRE);

    if (!g)
        return;
    atomic_store_explicit(&g->given_up, false, memory_order_relaxed);
    if (!enter(g, TAKE_PATIENCE_S))
        return;
    for (uint32_t i = 0; g->used && i < entry_count; i++) {
        if (!g->entries[i].addr)
            continue; /* and its page stays untouched */
        g->entries[i].addr = 0;
        g->used--;
    }
    g->used = 0;
    ml_unlock(&g->lock);
}

void ml_turns_begin(const struct ml_session *s)
{
    uint32_t turn = atomic_load_explicit(&s->turn, memory_order_relaxed);

    forget_blocks();
    atomic_store_explicit(&session, s, memory_order_relaxed);
    atomic_store_explicit(&ml_turn, &s->turn, memory_order_relaxed);
    atomic_store_explicit(&ml_turn_taken, turn & ~1u, memory_order_release);
}

/* An earlier turn never returns, and an odd one is not taken for an unfinished resume. */
void ml_turns_end(void)
{
    atomic_store_explicit(&ml_turn_taken, (ml_turn_now() - 2) | 1, memory_order_release);
}

/* ---- Records of the pause ------------------------------------------------ */

static void add(struct gap *g, uint32_t space, uint64_t addr, uint64_t bytes)
{
    struct entry *e = find(g, addr, space);

    if (!e->addr && g->used >= entry_count / 4 * 3) {
        ml_recorder_cannot_follow();
        return;
    }
    e->bytes = bytes;
    e->label = 0;
    e->space = space;
    g->used += !e->addr;
    order_stores();
    e->addr = addr;
}

static void remove_range(struct gap *g, uint32_t space, uint64_t addr, uint64_t bytes)
{
    for (uint32_t i = 0; g->used && i < entry_count;) {
        struct entry *e = &g->entries[i];
        if (e->addr && e->space == space && e->addr - addr < bytes)
            remove_entry(g, e); /* another may be here now */
        else
            i++;
    }
}

static enum ml_turns_fate take_block(struct gap *g, unsigned kind, uint32_t space,
                                     const uint64_t *words)
{
    struct entry *e;

    if (kind == ML_ALLOC || kind == ML_ALLOC_EX || kind == ML_REC_ALLOC_STACK) {
        add(g, space, words[1], words[2]);
        return ML_TURNS_KEPT;
    }
    if (kind == ML_FREE_RANGE) {
        remove_range(g, space, words[1], words[2]);
        return ML_TURNS_RECORD;
    }
    e = find(g, words[1], space);
    if (!e->addr)
        return ML_TURNS_RECORD;
    if (kind == ML_LABEL)
        e->label = words[2];
    else
        remove_entry(g, e);
    return ML_TURNS_KEPT;
}

static enum ml_turns_fate fate_of(unsigned kind)
{
    switch (kind) {
    case ML_ALLOC:
    case ML_ALLOC_EX:
    case ML_REC_ALLOC_STACK:
    case ML_FREE:
    case ML_FREE_RANGE:
    case ML_LABEL: return ML_TURNS_KEPT;
    case ML_PUSH:
    case ML_POP:
    case ML_REC_PUSH_TAPE:
    case ML_REC_PUSH_WORK: return ML_TURNS_SCOPE;
    case ML_MOVE: /* of malloc */
    case ML_MOVE_FAILED:
    case ML_MARK:
    case ML_SAMPLE:
    case ML_MARKER:
    case ML_REC_TAPE:
    case ML_REC_FUNCTION:
    case ML_REC_WORK:
    case ML_REC_MOVE_WORK:
    case ML_REC_EXPECT:
    case ML_REC_EXPECT_OUTPUT:
    case ML_REC_LABEL_EXPECTED: return ML_TURNS_DROP;
    default: return ML_TURNS_RECORD; /* names, counters, requests, refusals */
    }
}

enum ml_turns_fate ml_turns_take(const uint64_t *words, unsigned n)
{
    unsigned kind = words[0] & 0xff;
    uint32_t space = words[0] >> 8 & 0xff;
    enum ml_turns_fate fate = fate_of(kind);
    int saved_errno = errno;
    struct gap *g;

    if (fate != ML_TURNS_KEPT)
        return fate;
    g = gap_table();
    if (!g || !enter(g, TAKE_PATIENCE_S)) {
        ml_recorder_cannot_follow();
        errno = saved_errno;
        return ML_TURNS_DROP;
    }
    fate = take_block(g, kind, space == ML_SPACE_WIDE ? (uint32_t)words[n - 1] : space, words);
    ml_unlock(&g->lock);
    errno = saved_errno;
    return fate;
}

/* ---- The end of a pause -------------------------------------------------- */

/* The time is that of the end of the pause: another thread may have freed the block since. This
 * thread may be in another scope and phase than the one that allocated it, or in the next step. */
static void record(const struct entry *e, uint64_t ticks)
{
    uint64_t alloc[] = {ml_record_word(ML_REC_ALLOC_APART, e->space, ticks), e->addr, e->bytes};
    uint64_t label[] = {ml_record_word(ML_LABEL, e->space, ticks), e->addr, e->label};

    ml_record_spaced(e->space, alloc, 3);
    if (e->label)
        ml_record_spaced(e->space, label, 3);
}

static void record_all(struct gap *g)
{
    const struct ml_session *s = atomic_load_explicit(&session, memory_order_relaxed);
    uint64_t ticks = atomic_load_explicit(&s->turned_ticks[0], memory_order_relaxed);

    resuming = true;
    for (uint32_t i = 0; g->used && i < entry_count; i++) {
        if (!g->entries[i].addr)
            continue;
        record(&g->entries[i], ticks);
        g->entries[i].addr = 0;
        g->used--;
    }
    g->used = 0;
    resuming = false;
}

/* Not if the process has left the recording meanwhile: see ml_turns_end. Pairs with the acquire
 * load of ml_turn_is_current: the blocks are recorded. */
static void take_turn(uint32_t before, uint32_t turn)
{
    atomic_compare_exchange_strong_explicit(&ml_turn_taken, &before, turn, memory_order_release,
                                            memory_order_relaxed);
}

void ml_turns_resume(void)
{
    const _Atomic uint32_t *now = atomic_load_explicit(&ml_turn, memory_order_relaxed);
    uint32_t turn = atomic_load_explicit(now, memory_order_acquire);
    uint32_t taken = atomic_load_explicit(&ml_turn_taken, memory_order_acquire);
    struct gap *g;

    if ((turn | taken) & 1)
        return;
    g = gap_table();
    if (!g || !enter(g, RESUME_PATIENCE_S)) { /* nothing could be kept, or it cannot be had */
        take_turn(taken, turn);
        return;
    }
    if (atomic_load_explicit(&ml_turn_taken, memory_order_acquire) == taken && taken != turn) {
        record_all(g);
        take_turn(taken, turn);
    }
    ml_unlock(&g->lock);
}
