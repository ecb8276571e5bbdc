/* names.c: the tables of strings and spaces.
 *
 * A lookup takes no lock: a slot changes once, from 0 to a number, and a table never moves. When a
 * table is full, another follows, so that a program with few names or limited address space spends
 * little on them. Most programs need only the first. A name takes 24 bytes plus its text.
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

/* Names in each of the first two tables; each later table has twice as many as the one before. In
 * little address space they have fewer. */
#define FIRST_NAMES (1u << 14)
#define LEAST_NAMES (1u << 6)
#define DOUBLINGS_MAX 5u
#define TABLES_MAX 32u
#define BYTES_MAX (256u << 20) /* all texts together */
#define BYTES_PER_NAME 64u     /* for its text; the longest name must fit into the smallest table */
/* The part of one table, or of all, that foldable names may use; the rest is kept for ml_name_kept.
 */
#define ALL_BUT_KEPT(room) ((room) / 8 * 7)

#define NAME_OTHER 1 /* the number of ML_OTHER_NAMES, which is in no table */
_Static_assert(LEAST_NAMES *BYTES_PER_NAME > ML_NAME_MAX_BYTES, "a table takes any name");

struct entry {
    uint32_t hash;
    uint32_t len;
    uint64_t offset;
};

static struct table {
    uint32_t first;          /* number of the first string in it */
    uint32_t names_max;      /* a power of two */
    _Atomic uint32_t *slots; /* twice as many: string number, 0: empty */
    struct entry *entries;   /* by number, from `first` */
    char *bytes;
    uint64_t used_bytes;
} string_tables[TABLES_MAX];

static _Atomic uint32_t table_count;
static _Atomic uint32_t last_string = NAME_OTHER;
static uint64_t all_bytes;
static _Atomic bool full;            /* there is no room for a name that may be folded */
static _Atomic bool other_announced; /* NAME_OTHER has been announced */

struct space {
    uint32_t level;
    uint32_t device;
    uint32_t name;
};

/* A hash table of spaces: slots go from 0 to a number once and stay. */
#define FEW_SPACES 255
#define SLOTS_FOR(spaces) (2 * ((spaces) + 1))

static struct {
    struct space spaces[FEW_SPACES + 1]; /* by number */
    _Atomic uint32_t slots[SLOTS_FOR(FEW_SPACES)];
} few;

/* The spaces beyond those, which hardly any program has: reserved on demand. */
static _Atomic(struct wide {
    struct space spaces[ML_SPACE_MAX + 1];
    _Atomic uint32_t slots[SLOTS_FOR(ML_SPACE_MAX)];
} *) wide;

static _Atomic uint32_t space_count;

/* Set while this thread is in the tables, because our own library calls may come back through a
 * hook. */
static __thread bool inside;
static struct ml_table_lock names_lock = {.lock = ml_recorder_names_lock};

ML_TABLE_ACROSS_FORK(ml_names_init, names_lock, inside)

/* ---- Tables -------------------------------------------------------------- */

static bool add_table(void)
{
    uint32_t n = table_count;
    uint32_t wanted = FIRST_NAMES << ml_min_u64(n ? n - 1 : 0, DOUBLINGS_MAX);
    struct ml_table_array arrays[] = {{sizeof(struct entry), 1, NULL},
                                      {sizeof(_Atomic uint32_t), 2, NULL},
                                      {1, BYTES_PER_NAME, NULL}};
    uint32_t names_max = 0;

    if (n < TABLES_MAX)
        names_max = ml_address_arrays(wanted, LEAST_NAMES, arrays, ML_ARRAY_SIZE(arrays));
    if (!names_max)
        return false;
    string_tables[n] = (struct table){
        .first = last_string + 1,
        .names_max = names_max,
        .entries = arrays[0].ret_items,
        .slots = arrays[1].ret_items,
        .bytes = arrays[2].ret_items,
    };
    /* Pairs with the acquire load in find: the table is complete. */
    atomic_store_explicit(&table_count, n + 1, memory_order_release);
    return true;
}

void ml_names_reserve(void)
{
    struct ml_quiet quiet;

    if (inside || !ml_calls_allowed() || ml_address_room() != UINT64_MAX ||
        !ml_table_enter(&names_lock, &inside, &quiet))
        return;
    if (!table_count)
        (void)add_table();
    ml_table_leave(&names_lock, &inside, &quiet);
}

/* The table with this string. Precondition: the number has been assigned. */
static const struct table *table_of(uint32_t number)
{
    uint32_t i = atomic_load_explicit(&table_count, memory_order_acquire) - 1;

    while (number < string_tables[i].first)
        i--;
    return &string_tables[i];
}

static const struct entry *entry_of(const struct table *t, uint32_t number)
{
    return &t->entries[number - t->first];
}

/* The string's number, or 0 and in *ret_slot the slot for it. */
static uint32_t find_in(const struct table *t, const char *text, uint32_t len, uint32_t hash,
                        uint32_t *ret_slot)
{
    uint32_t mask = 2 * t->names_max - 1;

    for (uint32_t i = hash & mask;; i = (i + 1) & mask) {
        /* Pairs with the release store in add: entry and bytes are complete. */
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

/* Searches all tables, the newest first. If the string is in none, *ret_slot is its slot in the
 * newest. */
static uint32_t find(const char *text, uint32_t len, uint32_t hash, uint32_t *ret_slot)
{
    uint32_t n = atomic_load_explicit(&table_count, memory_order_acquire);
    uint32_t number = n ? find_in(&string_tables[n - 1], text, len, hash, ret_slot) : 0;
    uint32_t older_slot;

    for (uint32_t i = n; !number && i > 1; i--)
        number = find_in(&string_tables[i - 2], text, len, hash, &older_slot);
    return number;
}

/* ---- Strings --------------------------------------------------------------- */

static void announce_string(uint32_t number)
{
    uint64_t words[ML_RECORD_MAX_WORDS] = {ml_record_word(ML_REC_STRING, 0, ml_now())};
    uint32_t len;
    const char *text = ml_name_text(number, &len);

    words[1] = ml_pair(number, len);
    memcpy(&words[2], text, len);
    ml_record(words, 2 + (len + 7) / 8);
}

static bool has_room(const struct table *t, uint32_t len, bool kept)
{
    uint32_t names = last_string + 1 - t->first;
    uint32_t names_max = kept ? t->names_max : ALL_BUT_KEPT(t->names_max);

    return names < names_max && t->used_bytes + len <= names_max * (uint64_t)BYTES_PER_NAME;
}

/* A table with room for the string, and in *ret_slot its slot there; NULL: there is no room. */
static struct table *room_for(uint32_t len, uint32_t hash, bool kept, uint32_t *ret_slot)
{
    struct table *t = table_count ? &string_tables[table_count - 1] : NULL;

    if (last_string + 1 >= (kept ? ML_NAMES_MAX : ALL_BUT_KEPT(ML_NAMES_MAX)) ||
        all_bytes + len > (kept ? BYTES_MAX : ALL_BUT_KEPT(BYTES_MAX)))
        return NULL;
    if (t && has_room(t, len, kept))
        return t;
    if (!add_table())
        return NULL;
    t = &string_tables[table_count - 1];
    *ret_slot = hash & (2 * t->names_max - 1);
    return t;
}

static uint32_t add(struct table *t, uint32_t slot, const char *text, uint32_t len, uint32_t hash)
{
    uint32_t number = last_string + 1;
    bool nested = ml_writer->busy;

    memcpy(t->bytes + t->used_bytes, text, len);
    t->entries[number - t->first] = (struct entry){hash, len, t->used_bytes};
    t->used_bytes += len;
    all_bytes += len;
    /* Pairs with the acquire load in ml_name_text: the entry is complete. */
    atomic_store_explicit(&last_string, number, memory_order_release);
    announce_string(number);
    /* In a signal handler that interrupts a record, the announcement waits for that record, and no
     * other thread may learn the number before. */
    if (!nested)
        atomic_store_explicit(&t->slots[slot], number, memory_order_release);
    return number;
}

/* For a name that the tables have no room for. Precondition: this thread is inside. */
static uint32_t fold(void)
{
    bool nested = ml_writer->busy;

    if (!atomic_load_explicit(&other_announced, memory_order_relaxed)) {
        announce_string(NAME_OTHER);
        /* Pairs with the acquire load in number_of. */
        if (!nested)
            atomic_store_explicit(&other_announced, true, memory_order_release);
    }
    return NAME_OTHER;
}

static uint32_t add_or_fold(const char *text, uint32_t len, uint32_t hash, bool kept)
{
    uint32_t slot = 0;
    uint32_t number = find(text, len, hash, &slot);
    struct table *t;

    if (number)
        return number;
    t = room_for(len, hash, kept, &slot);
    if (t)
        return add(t, slot, text, len, hash);
    /* Before there is any table, a later name may still find address space. */
    if (!kept && table_count)
        atomic_store_explicit(&full, true, memory_order_relaxed);
    ml_recorder_name_folded();
    return kept ? 0 : fold();
}

static uint32_t number_of(const char *text, size_t bytes, bool kept)
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
    if (!kept && atomic_load_explicit(&full, memory_order_relaxed) &&
        atomic_load_explicit(&other_announced, memory_order_acquire)) {
        ml_recorder_name_folded();
        return NAME_OTHER;
    }
    if (!ml_table_enter(&names_lock, &inside, &quiet)) {
        ml_recorder_name_folded();
        return 0;
    }
    number = add_or_fold(text, len, hash, kept);
    ml_table_leave(&names_lock, &inside, &quiet);
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
    const struct table *t;

    *ret_len = 0;
    if (number == NAME_OTHER) {
        *ret_len = sizeof(ML_OTHER_NAMES) - 1;
        return ML_OTHER_NAMES;
    }
    /* Pairs with the release store in add: entry and bytes are complete. */
    if (!number || number > atomic_load_explicit(&last_string, memory_order_acquire))
        return "";
    t = table_of(number);
    *ret_len = entry_of(t, number)->len;
    return t->bytes + entry_of(t, number)->offset;
}

/* ---- Spaces -------------------------------------------------------------- */

static struct space *space_at(uint32_t number)
{
    return number <= FEW_SPACES ? &few.spaces[number] : &wide->spaces[number];
}

static void announce_space(uint32_t number)
{
    const struct space *s = space_at(number);
    uint64_t words[] = {ml_record_word(ML_REC_SPACE, 0, ml_now()), ml_pair(number, s->level),
                        ml_pair(s->device, s->name)};
    ml_record(words, 3);
}

/* The slot of the space, or the empty slot for it. */
static _Atomic uint32_t *slot_of(_Atomic uint32_t *slots, uint32_t count,
                                 const struct space *wanted)
{
    uint32_t i = (uint32_t)XXH3_64bits(wanted, sizeof(*wanted)) % count;

    for (;; i = (i + 1) % count) {
        /* Pairs with the release store in add_space. */
        uint32_t number = atomic_load_explicit(&slots[i], memory_order_acquire);

        if (!number || !memcmp(space_at(number), wanted, sizeof(*wanted)))
            return &slots[i];
    }
}

/* The space's number, or 0 and in *ret_slot the slot for it. */
static uint32_t find_space(const struct space *wanted, _Atomic uint32_t **ret_slot)
{
    struct wide *more = atomic_load_explicit(&wide, memory_order_acquire);

    *ret_slot = slot_of(few.slots, SLOTS_FOR(FEW_SPACES), wanted);
    if (!**ret_slot && more)
        *ret_slot = slot_of(more->slots, SLOTS_FOR(ML_SPACE_MAX), wanted);
    return **ret_slot;
}

static bool has_room_for_space(void)
{
    if (space_count == FEW_SPACES && !wide && ml_address_share() >= sizeof(*wide))
        /* Pairs with the acquire load in find_space. */
        atomic_store_explicit(&wide, ml_sys_reserve(sizeof(*wide)), memory_order_release);
    return space_count < (wide ? ML_SPACE_MAX : FEW_SPACES);
}

static uint32_t add_space(const struct space *s)
{
    _Atomic uint32_t *slot;
    uint32_t number = find_space(s, &slot);

    if (number)
        return number;
    if (!has_room_for_space()) {
        ml_recorder_space_refused();
        return 0;
    }
    find_space(s, &slot); /* the wide table may exist now */
    number = space_count + 1;
    *space_at(number) = *s;
    announce_space(number);
    /* Pairs with the acquire load in ml_names_announce: the space is complete. */
    atomic_store_explicit(&space_count, number, memory_order_release);
    atomic_store_explicit(slot, number, memory_order_release);
    return number;
}

uint32_t ml_space_number(const char *device, uint32_t level, const char *name)
{
    struct space s = {level, ml_name_kept(device), ml_name_kept(name)};
    _Atomic uint32_t *slot;
    uint32_t number = find_space(&s, &slot);
    struct ml_quiet quiet;

    if (number || inside || !ml_recorder_in_session())
        return number;
    if (!ml_table_enter(&names_lock, &inside, &quiet))
        return 0;
    number = add_space(&s);
    ml_table_leave(&names_lock, &inside, &quiet);
    return number;
}

/* ---- Forks --------------------------------------------------------------- */

void ml_names_announce(void)
{
    uint32_t last = atomic_load_explicit(&last_string, memory_order_acquire);

    if (atomic_load_explicit(&other_announced, memory_order_relaxed))
        announce_string(NAME_OTHER);
    for (uint32_t i = NAME_OTHER + 1; i <= last; i++)
        announce_string(i);
    for (uint32_t i = 1; i <= atomic_load_explicit(&space_count, memory_order_acquire); i++)
        announce_space(i);
}
