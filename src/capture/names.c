/* names.c: the tables of strings and spaces.
 *
 * Looking a string up takes no lock: slots go from 0 to a number once and stay.
 * The tables are reserved at full size and touched as they fill, so they never
 * move.
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

#define SLOTS (1u << 21)
#define BYTES_MAX (64u << 20)

struct entry {
    uint32_t hash;
    uint32_t len;
    uint64_t offset;
};

static struct tables {
    _Atomic uint32_t *slots; /* string number, 0: empty */
    struct entry *entries;   /* by number; number 0 is not used */
    char *bytes;
    uint32_t strings;
    uint64_t used_bytes;
} tables;

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

#define ENTRIES_BYTES (ML_NAMES_MAX * sizeof(struct entry))
#define SLOTS_BYTES (SLOTS * sizeof(_Atomic uint32_t))

/* All three, or nothing is taken from a program that has little room. */
static bool reserve_tables(void)
{
    void *entries, *bytes, *slots;

    if (tables.slots)
        return true;
    entries = ml_sys_reserve(ENTRIES_BYTES);
    bytes = ml_sys_reserve(BYTES_MAX);
    slots = ml_sys_reserve(SLOTS_BYTES);
    if (!entries || !bytes || !slots) {
        ml_sys_unmap(entries, entries ? ENTRIES_BYTES : 0);
        ml_sys_unmap(bytes, bytes ? BYTES_MAX : 0);
        ml_sys_unmap(slots, slots ? SLOTS_BYTES : 0);
        return false;
    }
    tables.entries = entries;
    tables.bytes = bytes;
    /* Pairs with the acquire load in ml_name: the other two are there. */
    __atomic_store_n(&tables.slots, slots, __ATOMIC_RELEASE);
    return true;
}

void ml_names_reserve(void)
{
    struct rlimit limit;
    struct ml_quiet quiet;

    if (inside || !ml_calls_allowed() || getrlimit(RLIMIT_AS, &limit) ||
        limit.rlim_cur != RLIM_INFINITY)
        return;
    if (!ml_table_enter(&lock, &inside, &quiet))
        return;
    (void)reserve_tables();
    ml_table_leave(&lock, &inside, &quiet);
}

/* The string's number, or 0 and in *ret_slot where it would go. */
static uint32_t find(const char *text, uint32_t len, uint32_t hash, uint32_t *ret_slot)
{
    for (uint32_t i = hash % SLOTS;; i = (i + 1) % SLOTS) {
        /* Pairs with the release store in add: entry and bytes are there. */
        uint32_t number = atomic_load_explicit(&tables.slots[i], memory_order_acquire);
        const struct entry *e = &tables.entries[number];

        if (!number) {
            *ret_slot = i;
            return 0;
        }
        if (e->hash == hash && e->len == len && !memcmp(tables.bytes + e->offset, text, len))
            return number;
    }
}

static void announce_string(uint32_t number)
{
    const struct entry *e = &tables.entries[number];
    uint64_t words[ML_RECORD_MAX_WORDS] = {ml_record_word(ML_REC_STRING, 0, ml_now()),
                                           ml_pair(number, e->len)};

    memcpy(&words[2], tables.bytes + e->offset, e->len);
    ml_record(words, 2 + (e->len + 7) / 8);
}

static uint32_t add(const char *text, uint32_t len, uint32_t hash)
{
    uint32_t slot;
    uint32_t number = find(text, len, hash, &slot);
    bool nested = ml_writer->busy;

    if (number)
        return number;
    if (tables.strings + 1 == ML_NAMES_MAX || tables.used_bytes + len > BYTES_MAX)
        return 0;
    number = tables.strings + 1;
    memcpy(tables.bytes + tables.used_bytes, text, len);
    tables.entries[number] = (struct entry){hash, len, tables.used_bytes};
    tables.used_bytes += len;
    /* Pairs with the acquire load in ml_names_announce: the entry is there. */
    __atomic_store_n(&tables.strings, number, __ATOMIC_RELEASE);
    announce_string(number);
    /* In a handler inside a record the announcement waits for that record, and
     * nobody else may learn the number before. */
    if (!nested)
        atomic_store_explicit(&tables.slots[slot], number, memory_order_release);
    return number;
}

uint32_t ml_name(const char *text)
{
    return text ? ml_name_bytes(text, strnlen(text, ML_NAME_MAX_BYTES)) : 0;
}

uint32_t ml_name_bytes(const char *text, size_t bytes)
{
    uint32_t len = (uint32_t)ml_min_u64(bytes, ML_NAME_MAX_BYTES);
    uint32_t number = 0, hash, slot;
    struct ml_quiet quiet;

    if (!len || inside || !ml_recorder_in_session())
        return 0;
    hash = (uint32_t)XXH3_64bits(text, len);
    if (__atomic_load_n(&tables.slots, __ATOMIC_ACQUIRE))
        number = find(text, len, hash, &slot);
    if (number)
        return number;
    if (!ml_table_enter(&lock, &inside, &quiet))
        return 0;
    if (reserve_tables())
        number = add(text, len, hash);
    ml_table_leave(&lock, &inside, &quiet);
    return number;
}

const char *ml_name_text(uint32_t number, uint32_t *ret_len)
{
    /* Pairs with the release store in add: entry and bytes are there. */
    if (!number || number > __atomic_load_n(&tables.strings, __ATOMIC_ACQUIRE)) {
        *ret_len = 0;
        return "";
    }
    *ret_len = tables.entries[number].len;
    return tables.bytes + tables.entries[number].offset;
}

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
    for (uint32_t i = 1; i <= __atomic_load_n(&tables.strings, __ATOMIC_ACQUIRE); i++)
        announce_string(i);
    for (uint32_t i = 1; i <= space_count; i++)
        announce_space(i);
}
