/* names.c: the tables of strings and spaces.
 *
 * Looking a string up takes no lock: slots go from 0 to a number once and stay.
 * Strings lie in segments, which are reserved at full size and touched as they
 * fill, so they never move; the next one is reserved when the last is full. A
 * name takes 24 bytes and its text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "names.h"

#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "record.h"
#include "recorder.h"
#include "sys.h"
#include "table_lock.h"

#define SEGMENT_BITS 20
#define SEGMENT_NAMES (1u << SEGMENT_BITS)
#define SEGMENTS (ML_NAMES_MAX / SEGMENT_NAMES)
#define SLOTS (2 * SEGMENT_NAMES)
#define BYTES_MAX (64u << 20)
/* An eighth of each segment is for ml_name_kept alone. */
#define OPEN_NAMES (SEGMENT_NAMES / 8 * 7)
#define OPEN_BYTES (BYTES_MAX / 8 * 7)

#define NAME_OTHER 1 /* the number of ML_OTHER_NAMES, in no segment */
#define FIRST_NAME 2

struct entry {
    uint32_t hash;
    uint32_t len;
    uint64_t offset;
};

struct segment {
    _Atomic uint32_t *slots; /* string number, 0: empty */
    struct entry *entries;   /* by the low bits of the number */
    char *bytes;
    _Atomic uint32_t names; /* the number, less the segment's, of the next one */
    uint64_t used_bytes;
};

static struct tables {
    struct segment segments[SEGMENTS];
    _Atomic uint32_t count;  /* of segments */
    _Atomic bool full;       /* a name that may be folded finds no room */
    _Atomic bool other_told; /* NAME_OTHER is announced */
} tables;

struct space {
    uint32_t level;
    uint32_t device;
    uint32_t name;
};

#define SPACE_SLOTS (2 * (ML_SPACE_MAX + 1))

static struct space spaces[ML_SPACE_MAX + 1];
static _Atomic uint32_t space_slots[SPACE_SLOTS]; /* number, 0: empty */
static _Atomic uint32_t space_count;

/* Set while this thread is in the tables, for a library call of ours that comes
 * back through a hook. */
static __thread bool inside;
static struct ml_table_lock lock = {.lock = ml_recorder_names_lock};

ML_TABLE_ACROSS_FORK(ml_names_init, lock, inside)

/* ---- Segments ------------------------------------------------------------ */

#define ENTRIES_BYTES (SEGMENT_NAMES * sizeof(struct entry))
#define SLOTS_BYTES (SLOTS * sizeof(_Atomic uint32_t))

/* All three parts, or nothing is taken from a program that has little room. */
static bool reserve_segment(void)
{
    uint32_t count = atomic_load_explicit(&tables.count, memory_order_relaxed);
    struct segment *s = &tables.segments[count];
    void *entries, *bytes, *slots;

    if (count == SEGMENTS)
        return false;
    entries = ml_sys_reserve(ENTRIES_BYTES);
    bytes = ml_sys_reserve(BYTES_MAX);
    slots = ml_sys_reserve(SLOTS_BYTES);
    if (!entries || !bytes || !slots) {
        ml_sys_unmap(entries, entries ? ENTRIES_BYTES : 0);
        ml_sys_unmap(bytes, bytes ? BYTES_MAX : 0);
        ml_sys_unmap(slots, slots ? SLOTS_BYTES : 0);
        return false;
    }
    *s = (struct segment){.slots = slots, .entries = entries, .bytes = bytes};
    atomic_store_explicit(&s->names, count ? 0 : FIRST_NAME, memory_order_relaxed);
    /* Pairs with the acquire loads of those who look: its parts are there. */
    atomic_store_explicit(&tables.count, count + 1, memory_order_release);
    return true;
}

void ml_names_reserve(void)
{
    struct rlimit limit;
    struct ml_quiet quiet;

    if (inside || getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur != RLIM_INFINITY)
        return;
    if (!ml_table_enter(&lock, &inside, &quiet))
        return;
    if (!atomic_load_explicit(&tables.count, memory_order_relaxed))
        (void)reserve_segment();
    ml_table_leave(&lock, &inside, &quiet);
}

static bool has_room(const struct segment *s, uint32_t len, bool kept)
{
    uint32_t names = atomic_load_explicit(&s->names, memory_order_relaxed);

    return names < (kept ? SEGMENT_NAMES : OPEN_NAMES) &&
           s->used_bytes + len <= (kept ? BYTES_MAX : OPEN_BYTES);
}

/* A segment for one more string, SEGMENTS: there is none. */
static uint32_t segment_with_room(uint32_t len, bool kept)
{
    uint32_t count = atomic_load_explicit(&tables.count, memory_order_relaxed);

    for (uint32_t i = count; i-- > 0;) {
        if (has_room(&tables.segments[i], len, kept))
            return i;
    }
    return reserve_segment() ? count : SEGMENTS;
}

/* ---- Strings ------------------------------------------------------------- */

static uint32_t find_in(const struct segment *s, const char *text, uint32_t len, uint32_t hash)
{
    for (uint32_t i = hash % SLOTS;; i = (i + 1) % SLOTS) {
        /* Pairs with the release store in add: entry and bytes are there. */
        uint32_t number = atomic_load_explicit(&s->slots[i], memory_order_acquire);
        const struct entry *e = &s->entries[number % SEGMENT_NAMES];

        if (!number ||
            (e->hash == hash && e->len == len && !memcmp(s->bytes + e->offset, text, len)))
            return number;
    }
}

/* The string's number, 0: it has none yet. */
static uint32_t find(const char *text, uint32_t len, uint32_t hash)
{
    uint32_t count = atomic_load_explicit(&tables.count, memory_order_acquire);
    uint32_t number = 0;

    for (uint32_t i = 0; i < count && !number; i++)
        number = find_in(&tables.segments[i], text, len, hash);
    return number;
}

static void announce_string(uint32_t number)
{
    uint64_t words[ML_RECORD_MAX_WORDS] = {ml_record_word(ML_REC_STRING, 0, ml_now())};
    uint32_t len;
    const char *text = ml_name_text(number, &len);

    words[1] = ml_pair(number, len);
    memcpy(&words[2], text, len);
    ml_record(words, 2 + (len + 7) / 8);
}

/* What is found from now on has this number. */
static void publish(const struct segment *s, uint32_t number, uint32_t hash)
{
    uint32_t i = hash % SLOTS;

    while (atomic_load_explicit(&s->slots[i], memory_order_relaxed))
        i = (i + 1) % SLOTS;
    atomic_store_explicit(&s->slots[i], number, memory_order_release);
}

static uint32_t add(uint32_t where, const char *text, uint32_t len, uint32_t hash)
{
    struct segment *s = &tables.segments[where];
    uint32_t index = atomic_load_explicit(&s->names, memory_order_relaxed);
    uint32_t number = where << SEGMENT_BITS | index;
    bool nested = ml_writer->busy;

    memcpy(s->bytes + s->used_bytes, text, len);
    s->entries[index] = (struct entry){hash, len, s->used_bytes};
    s->used_bytes += len;
    /* Pairs with the acquire load in ml_name_text: the entry is there. */
    atomic_store_explicit(&s->names, index + 1, memory_order_release);
    announce_string(number);
    /* In a handler inside a record the announcement waits for that record, and
     * nobody else may learn the number before. */
    if (!nested)
        publish(s, number, hash);
    return number;
}

/* A name that the table has no room for; called inside. */
static uint32_t fold(void)
{
    bool nested = ml_writer->busy;

    if (!atomic_load_explicit(&tables.other_told, memory_order_relaxed)) {
        announce_string(NAME_OTHER);
        /* Pairs with the acquire load in number_of. */
        if (!nested)
            atomic_store_explicit(&tables.other_told, true, memory_order_release);
    }
    return NAME_OTHER;
}

static uint32_t add_or_fold(const char *text, uint32_t len, uint32_t hash, bool kept)
{
    uint32_t number = find(text, len, hash);
    uint32_t where;

    if (number)
        return number;
    where = segment_with_room(len, kept);
    if (where < SEGMENTS)
        return add(where, text, len, hash);
    /* Without any segment a later name may find address space. */
    if (!kept && atomic_load_explicit(&tables.count, memory_order_relaxed))
        atomic_store_explicit(&tables.full, true, memory_order_relaxed);
    ml_recorder_name_folded();
    return kept ? 0 : fold();
}

static uint32_t number_of(const char *text, size_t bytes, bool kept)
{
    uint32_t len = (uint32_t)ml_min_u64(bytes, ML_NAME_MAX_BYTES);
    uint32_t number, hash;
    struct ml_quiet quiet;

    if (!len || inside || !ml_recorder_in_session())
        return 0;
    hash = (uint32_t)XXH3_64bits(text, len);
    number = find(text, len, hash);
    if (number)
        return number;
    if (!kept && atomic_load_explicit(&tables.full, memory_order_relaxed) &&
        atomic_load_explicit(&tables.other_told, memory_order_acquire)) {
        ml_recorder_name_folded();
        return NAME_OTHER;
    }
    if (!ml_table_enter(&lock, &inside, &quiet)) {
        ml_recorder_name_folded();
        return 0;
    }
    number = add_or_fold(text, len, hash, kept);
    ml_table_leave(&lock, &inside, &quiet);
    return number;
}

uint32_t ml_name(const char *text)
{
    return text ? ml_name_bytes(text, strnlen(text, ML_NAME_MAX_BYTES)) : 0;
}

uint32_t ml_name_bytes(const char *text, size_t bytes)
{
    return number_of(text, bytes, false);
}

uint32_t ml_name_kept(const char *text)
{
    return text ? number_of(text, strnlen(text, ML_NAME_MAX_BYTES), true) : 0;
}

const char *ml_name_text(uint32_t number, uint32_t *ret_len)
{
    const struct segment *s = &tables.segments[number / SEGMENT_NAMES % SEGMENTS];
    uint32_t index = number % SEGMENT_NAMES;

    *ret_len = 0;
    if (number == NAME_OTHER) {
        *ret_len = sizeof(ML_OTHER_NAMES) - 1;
        return ML_OTHER_NAMES;
    }
    /* Pairs with the release store in add: entry and bytes are there. */
    if (!number || number >= ML_NAMES_MAX ||
        index >= atomic_load_explicit(&s->names, memory_order_acquire))
        return "";
    *ret_len = s->entries[index].len;
    return s->bytes + s->entries[index].offset;
}

/* ---- Spaces -------------------------------------------------------------- */

static void announce_space(uint32_t number)
{
    const struct space *s = &spaces[number];
    uint64_t words[] = {ml_record_word(ML_REC_SPACE, 0, ml_now()), ml_pair(number, s->level),
                        ml_pair(s->device, s->name)};
    ml_record(words, 3);
}

/* The space's number, or 0 and in *ret_slot where it would go. */
static uint32_t find_space(const struct space *wanted, uint32_t *ret_slot)
{
    uint32_t i = (uint32_t)XXH3_64bits(wanted, sizeof(*wanted)) % SPACE_SLOTS;

    for (;; i = (i + 1) % SPACE_SLOTS) {
        /* Pairs with the release store in add_space. */
        uint32_t number = atomic_load_explicit(&space_slots[i], memory_order_acquire);

        *ret_slot = i;
        if (!number || !memcmp(&spaces[number], wanted, sizeof(*wanted)))
            return number;
    }
}

static uint32_t add_space(const struct space *s)
{
    uint32_t slot;
    uint32_t number = find_space(s, &slot);

    if (number)
        return number;
    if (space_count == ML_SPACE_MAX) {
        ml_recorder_space_refused();
        return 0;
    }
    number = space_count + 1;
    spaces[number] = *s;
    announce_space(number);
    /* Pairs with the acquire load in ml_names_announce: the space is there. */
    atomic_store_explicit(&space_count, number, memory_order_release);
    atomic_store_explicit(&space_slots[slot], number, memory_order_release);
    return number;
}

uint32_t ml_space_number(const char *device, uint32_t level, const char *name)
{
    struct space s = {level, ml_name_kept(device), ml_name_kept(name)};
    uint32_t slot;
    uint32_t number = find_space(&s, &slot);
    struct ml_quiet quiet;

    if (number || inside || !ml_recorder_in_session())
        return number;
    if (!ml_table_enter(&lock, &inside, &quiet))
        return 0;
    number = add_space(&s);
    ml_table_leave(&lock, &inside, &quiet);
    return number;
}

/* ---- Forks --------------------------------------------------------------- */

static void announce_segment(uint32_t where)
{
    /* Pairs with the release store in add: the entries are there. */
    uint32_t end = atomic_load_explicit(&tables.segments[where].names, memory_order_acquire);

    for (uint32_t i = where ? 0 : FIRST_NAME; i < end; i++)
        announce_string(where << SEGMENT_BITS | i);
}

void ml_names_announce(void)
{
    uint32_t segments = atomic_load_explicit(&tables.count, memory_order_acquire);

    if (atomic_load_explicit(&tables.other_told, memory_order_relaxed))
        announce_string(NAME_OTHER);
    for (uint32_t i = 0; i < segments; i++)
        announce_segment(i);
    for (uint32_t i = 1; i <= atomic_load_explicit(&space_count, memory_order_acquire); i++)
        announce_space(i);
}
