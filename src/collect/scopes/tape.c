/* tape.c: see tape.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tape.h"

#include <string.h>

void ml_tapes_release(struct ml_tapes *tapes)
{
    for (size_t i = 0; i < tapes->items.len; i++)
        ml_vec_release(&tapes->items.items[i].intervals);
    ml_vec_release(&tapes->items);
    ml_map_release(&tapes->by_id);
    tapes->room = 0;
}

static struct ml_tape *find(struct ml_tapes *tapes, uint64_t id)
{
    uint64_t place;

    if (!ml_map_get(&tapes->by_id, id, &place))
        return NULL;
    tapes->items.items[place].used = ++tapes->clock;
    return &tapes->items.items[place];
}

/* The last tape takes the slot of the removed one. */
static void drop_oldest(struct ml_tapes *tapes)
{
    struct ml_tape *items = tapes->items.items;
    size_t oldest = 0;

    for (size_t i = 1; i < tapes->items.len; i++)
        oldest = items[i].used < items[oldest].used ? i : oldest;
    tapes->room -= items[oldest].intervals.cap;
    ml_map_take(&tapes->by_id, items[oldest].id, NULL);
    ml_vec_release(&items[oldest].intervals);
    items[oldest] = items[--tapes->items.len];
    if (oldest < tapes->items.len)
        ml_map_put(&tapes->by_id, items[oldest].id, oldest); /* replaces: needs no memory */
}

static struct ml_tape *find_or_add(struct ml_tapes *tapes, uint64_t id)
{
    struct ml_tape *known = find(tapes, id);

    if (known)
        return known;
    if (tapes->items.len == ML_TAPES_MAX)
        drop_oldest(tapes);
    if (ml_map_put(&tapes->by_id, id, tapes->items.len))
        return NULL;
    if (ml_vec_push(&tapes->items, (struct ml_tape){.id = id, .used = ++tapes->clock})) {
        ml_map_take(&tapes->by_id, id, NULL);
        return NULL;
    }
    return &tapes->items.items[tapes->items.len - 1];
}

/* Forgets `first` and later numbers. Each interval is removed once, so
 * this is cheap whatever a target sends. */
static void rewind_to(struct ml_tape *tape, uint64_t first)
{
    while (tape->intervals.len && tape->intervals.items[tape->intervals.len - 1].first >= first)
        tape->intervals.len--;
    if (tape->intervals.len) {
        struct ml_tape_interval *last = &tape->intervals.items[tape->intervals.len - 1];
        last->end = ml_min_u64(last->end, first);
    }
}

static void forget_older_half(struct ml_tape *tape)
{
    size_t kept = tape->intervals.len / 2;

    memmove(tape->intervals.items, tape->intervals.items + tape->intervals.len - kept,
            kept * sizeof(*tape->intervals.items));
    tape->intervals.len = kept;
}

static void append(struct ml_tapes *tapes, struct ml_tape *tape, struct ml_tape_interval interval)
{
    size_t room = tape->intervals.cap;

    if (tape->intervals.len == ML_TAPE_INTERVALS_MAX)
        forget_older_half(tape);
    if (!ml_vec_push(&tape->intervals, interval))
        tapes->room += tape->intervals.cap - room;
}

void ml_tapes_add(struct ml_tapes *tapes, uint64_t tape, uint64_t first, uint64_t end,
                  uint32_t scope)
{
    struct ml_tape *t = first < end ? find_or_add(tapes, tape) : NULL;
    struct ml_tape_interval *last;

    if (!t)
        return;
    rewind_to(t, first);
    last = t->intervals.len ? &t->intervals.items[t->intervals.len - 1] : NULL;
    if (last && last->end == first && last->scope == scope)
        last->end = end;
    else
        append(tapes, t, (struct ml_tape_interval){first, end, scope});
    while (tapes->room > ML_TAPES_INTERVALS_MAX && tapes->items.len > 1)
        drop_oldest(tapes);
}

uint32_t ml_tapes_find(struct ml_tapes *tapes, uint64_t tape, uint64_t number)
{
    const struct ml_tape *t = find(tapes, tape);
    size_t low = 0, high = t ? t->intervals.len : 0;

    /* The first interval that ends after the number. */
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (t->intervals.items[middle].end <= number)
            low = middle + 1;
        else
            high = middle;
    }
    if (!t || low == t->intervals.len || number < t->intervals.items[low].first)
        return 0;
    return t->intervals.items[low].scope;
}
