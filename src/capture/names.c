/* names.c: the tables of strings and spaces.
 *
 * Looking a string up takes no lock: slots go from 0 to a number once and stay, and a table
 * never moves. One that is full is followed by another, so that a program which has few names,
 * or limits its address space, gives little for them. Most programs need only the first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "names.h"

#include <stdbool.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "address_room.h"
#include "record.h"
#include "recorder.h"
#include "sys.h"
#include "table_lock.h"

/* Names in the first two tables; each later one has twice as many as the one before. In little
 * address space they have fewer. */
#define FIRST_NAMES (1u << 14)
#define LEAST_NAMES (1u << 6)
#define DOUBLINGS_MAX 5u
#define TABLES_MAX 32u
#define BYTES_MAX (64u << 20) /* of all texts together */
#define BYTES_PER_NAME 64u    /* for its text; the longest name must fit into the smallest table */
_Static_assert(LEAST_NAMES *BYTES_PER_NAME > ML_NAME_MAX_BYTES, "a table takes any name");

struct entry {
    uint32_t hash;
    uint32_t len;
    uint64_t offset;
};

static struct table {
    uint32_t first;          /* number of the first string that it has */
    uint32_t names_max;      /* a power of two */
    _Atomic uint32_t *slots; /* twice as many: string number, 0: empty */
    struct entry *entries;   /* by number, from `first` */
    char *bytes;
    uint64_t used_bytes;
} tables[TABLES_MAX];

static _Atomic uint32_t table_count;
static uint32_t strings; /* numbers are from 1 */
static uint64_t all_bytes;

#define TABLE_BYTES_PER_NAME (sizeof(struct entry) + BYTES_PER_NAME + 2 * sizeof(uint32_t))

struct space {
    uint32_t level;
    uint32_t device;
    uint32_t name;
};

static struct space spaces[ML_SPACE_MAX + 1];
static _Atomic uint32_t space_count;

/* Set while this thread is in the tables, for a library call of ours that comes
 * back through a hook. */
static __thread bool inside;
static struct ml_table_lock lock = {.lock = ml_recorder_names_lock};

ML_TABLE_ACROSS_FORK(ml_names_init, lock, inside)

/* ---- Tables -------------------------------------------------------------- */

static bool add_table(void)
{
    uint32_t n = table_count;
    uint32_t wanted = FIRST_NAMES << ml_min_u64(n ? n - 1 : 0, DOUBLINGS_MAX);
    char *at = NULL;

    wanted = n < TABLES_MAX ? ml_address_entries(wanted, LEAST_NAMES, TABLE_BYTES_PER_NAME) : 0;
    if (wanted)
        at = ml_sys_reserve(wanted * TABLE_BYTES_PER_NAME);
    if (!at)
        return false;
    tables[n] = (struct table){
        .first = strings + 1,
        .names_max = wanted,
        .entries = (struct entry *)(void *)at,
        .slots = (_Atomic uint32_t *)(void *)(at + wanted * sizeof(struct entry)),
        .bytes = at + wanted * (sizeof(struct entry) + 2 * sizeof(uint32_t)),
    };
    /* Pairs with the acquire load in find: the table is there. */
    atomic_store_explicit(&table_count, n + 1, memory_order_release);
    return true;
}

void ml_names_reserve(void)
{
    struct ml_quiet quiet;

    if (inside || !ml_calls_allowed() || ml_address_room() != UINT64_MAX ||
        !ml_table_enter(&lock, &inside, &quiet))
        return;
    if (!table_count)
        (void)add_table();
    ml_table_leave(&lock, &inside, &quiet);
}

/* The one that has this string. Precondition: the number was given. */
static const struct table *table_of(uint32_t number)
{
    uint32_t i = atomic_load_explicit(&table_count, memory_order_acquire) - 1;

    while (number < tables[i].first)
        i--;
    return &tables[i];
}

static const struct entry *entry_of(const struct table *t, uint32_t number)
{
    return &t->entries[number - t->first];
}

/* The string's number, or 0 and in *ret_slot where it would go. */
static uint32_t find_in(const struct table *t, const char *text, uint32_t len, uint32_t hash,
                        uint32_t *ret_slot)
{
    uint32_t mask = 2 * t->names_max - 1;

    for (uint32_t i = hash & mask;; i = (i + 1) & mask) {
        /* Pairs with the release store in add: entry and bytes are there. */
        uint32_t number = atomic_load_explicit(&t->slots[i], memory_order_acquire);
        const struct entry *e;

        *ret_slot = i;
        if (!number)
            return 0;
        e = entry_of(t, number);
        if (e->hash == hash && e->len == len && !memcmp(t->bytes + e->offset, text, len))
            return number;
    }
}

/* In the newest table first, where it would go, as ret_slot says, if it is in none. */
static uint32_t find(const char *text, uint32_t len, uint32_t hash, uint32_t *ret_slot)
{
    uint32_t n = atomic_load_explicit(&table_count, memory_order_acquire);
    uint32_t number = n ? find_in(&tables[n - 1], text, len, hash, ret_slot) : 0;
    uint32_t older_slot;

    for (uint32_t i = n; !number && i > 1; i--)
        number = find_in(&tables[i - 2], text, len, hash, &older_slot);
    return number;
}

/* ---- Strings --------------------------------------------------------------- */

static void announce_string(uint32_t number)
{
    const struct table *t = table_of(number);
    const struct entry *e = entry_of(t, number);
    uint64_t words[ML_RECORD_MAX_WORDS] = {ml_record_word(ML_REC_STRING, 0, ml_now()),
                                           ml_pair(number, e->len)};

    memcpy(&words[2], t->bytes + e->offset, e->len);
    ml_record(words, 2 + (e->len + 7) / 8);
}

/* A table with room for it, and in *ret_slot its place there; NULL: there is none. */
static struct table *room_for(uint32_t len, uint32_t hash, uint32_t *ret_slot)
{
    struct table *t = table_count ? &tables[table_count - 1] : NULL;

    if (strings + 1 == ML_NAMES_MAX || all_bytes + len > BYTES_MAX)
        return NULL;
    if (t && strings + 1 - t->first < t->names_max &&
        t->used_bytes + len <= t->names_max * (uint64_t)BYTES_PER_NAME)
        return t;
    if (!add_table())
        return NULL;
    t = &tables[table_count - 1];
    *ret_slot = hash & (2 * t->names_max - 1);
    return t;
}

static uint32_t add(const char *text, uint32_t len, uint32_t hash)
{
    uint32_t slot = 0;
    uint32_t number = find(text, len, hash, &slot);
    bool nested = ml_writer->busy;
    struct table *t;

    if (number)
        return number;
    t = room_for(len, hash, &slot);
    if (!t)
        return 0;
    number = strings + 1;
    memcpy(t->bytes + t->used_bytes, text, len);
    t->entries[number - t->first] = (struct entry){hash, len, t->used_bytes};
    t->used_bytes += len;
    all_bytes += len;
    /* Pairs with the acquire load in ml_names_announce: the entry is there. */
    __atomic_store_n(&strings, number, __ATOMIC_RELEASE);
    announce_string(number);
    /* In a handler inside a record the announcement waits for that record, and
     * nobody else may learn the number before. */
    if (!nested)
        atomic_store_explicit(&t->slots[slot], number, memory_order_release);
    return number;
}

uint32_t ml_name(const char *text)
{
    return text ? ml_name_bytes(text, strnlen(text, ML_NAME_MAX_BYTES)) : 0;
}

uint32_t ml_name_bytes(const char *text, size_t bytes)
{
    uint32_t len = (uint32_t)ml_min_u64(bytes, ML_NAME_MAX_BYTES);
    uint32_t number, hash, slot;
    struct ml_quiet quiet;

    if (!len || inside || !ml_recorder_in_session())
        return 0;
    hash = (uint32_t)XXH3_64bits(text, len);
    number = find(text, len, hash, &slot);
    if (number)
        return number;
    if (!ml_table_enter(&lock, &inside, &quiet))
        return 0;
    number = add(text, len, hash);
    ml_table_leave(&lock, &inside, &quiet);
    return number;
}

const char *ml_name_text(uint32_t number, uint32_t *ret_len)
{
    const struct table *t;

    /* Pairs with the release store in add: entry and bytes are there. */
    if (!number || number > __atomic_load_n(&strings, __ATOMIC_ACQUIRE)) {
        *ret_len = 0;
        return "";
    }
    t = table_of(number);
    *ret_len = entry_of(t, number)->len;
    return t->bytes + entry_of(t, number)->offset;
}

/* ---- Spaces ---------------------------------------------------------------- */

static void announce_space(uint32_t number)
{
    const struct space *s = &spaces[number];
    uint64_t words[] = {ml_record_word(ML_REC_SPACE, number, ml_now()), ml_pair(number, s->level),
                        ml_pair(s->device, s->name)};
    ml_record(words, 3);
}

static uint32_t find_space(const struct space *wanted)
{
    /* Pairs with the release store below. */
    uint32_t n = atomic_load_explicit(&space_count, memory_order_acquire);

    for (uint32_t i = 1; i <= n; i++) {
        if (!memcmp(&spaces[i], wanted, sizeof(*wanted)))
            return i;
    }
    return 0;
}

uint32_t ml_space_number(const char *device, uint32_t level, const char *name)
{
    struct space s = {level, ml_name(device), ml_name(name)};
    uint32_t number = find_space(&s);
    struct ml_quiet quiet;

    if (number || inside || !ml_recorder_in_session())
        return number;
    if (!ml_table_enter(&lock, &inside, &quiet))
        return 0;
    number = find_space(&s);
    if (!number && space_count < ML_SPACE_MAX) {
        number = space_count + 1;
        spaces[number] = s;
        announce_space(number);
        atomic_store_explicit(&space_count, number, memory_order_release);
    }
    ml_table_leave(&lock, &inside, &quiet);
    return number;
}

void ml_names_announce(void)
{
    for (uint32_t i = 1; i <= __atomic_load_n(&strings, __ATOMIC_ACQUIRE); i++)
        announce_string(i);
    for (uint32_t i = 1; i <= space_count; i++)
        announce_space(i);
}
