/* python_frames.c: see python_frames.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "python_frames.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "address_room.h"
#include "names.h"
#include "python_memory.h"
#include "record.h"
#include "sys.h"

/* An upper limit: in little address space the table has fewer. */
#define FRAMES_MAX (1u << 18)
#define FRAMES_LEAST (1u << 6)

/* One cache line each: a stack that was seen before touches one per frame. */
struct frame {
    alignas(64) struct ml_python_place place;
    uint32_t function; /* strings */
    uint32_t file;
    uint32_t line;
};

static struct frame_tables {
    uint32_t frames_max;  /* a power of two */
    uint32_t *slots;      /* twice as many: frame number, 0: empty */
    struct frame *frames; /* by number; number 0 is not used */
    _Atomic uint32_t count;
} frame_tables;

static bool reserve_tables(void)
{
    struct ml_table_array arrays[] = {{sizeof(*frame_tables.frames), 1, NULL},
                                      {sizeof(*frame_tables.slots), 2, NULL}};
    uint32_t max;

    if (frame_tables.frames)
        return true;
    max = ml_address_arrays(FRAMES_MAX, FRAMES_LEAST, arrays, ML_ARRAY_SIZE(arrays));
    if (!max)
        return false;
    frame_tables.frames_max = max;
    frame_tables.slots = arrays[1].ret_items;
    frame_tables.frames = arrays[0].ret_items;
    return true;
}

static ML_ALWAYS_INLINE bool same(const struct ml_python_place *a, const struct ml_python_place *b)
{
    return a->code == b->code && a->instruction == b->instruction && a->lines == b->lines &&
           a->file == b->file && a->name == b->name && a->first_line == b->first_line;
}

bool ml_python_frames_are(const uint32_t *numbers, const struct ml_python_place *places, uint32_t n)
{
    const struct frame *frames = frame_tables.frames;

    for (uint32_t i = 0; i < n; i++) {
        if (!same(&frames[numbers[i]].place, &places[i]))
            return false;
    }
    return true;
}

bool ml_python_frame_counts(uint32_t number)
{
    return frame_tables.frames[number].line;
}

static void announce(uint32_t number)
{
    const struct frame *f = &frame_tables.frames[number];
    uint64_t words[] = {ml_record_word(ML_REC_PYTHON_FRAME, 0, ml_now()),
                        ml_pair(number, f->function), ml_pair(f->file, f->line)};

    if (f->line)
        ml_record(words, 3);
}

/* The string number of that text; false: it has none now, but may have later. */
static bool name(const struct ml_python *py, uintptr_t text, uint32_t *ret)
{
    char bytes[ML_NAME_MAX_BYTES];
    size_t len = ml_python_text(py, text, bytes, sizeof(bytes));

    *ret = len ? ml_name_bytes(bytes, len) : 0;
    return *ret || !len;
}

static uint32_t line_of(const struct ml_python *py, const struct ml_python_place *place)
{
    const struct ml_python_layout *at = &py->layout;
    uintptr_t table = ml_python_word(place->code + at->code_lines);

    if (!ml_python_plausible(table) || !ml_python_is(table, py->bytes_type))
        return 0;
    return ml_python_line(at->lines, (const uint8_t *)(table + at->bytes_data),
                          ml_python_word(table + at->bytes_size), place->first_line,
                          place->instruction);
}

static bool describe(const struct ml_python *py, struct frame *f)
{
    uint16_t function = py->layout.code_full_name;

    if (!function)
        function = py->layout.code_name;
    f->line = line_of(py, &f->place);
    return !f->line || (name(py, ml_python_word(f->place.code + function), &f->function) &&
                        name(py, f->place.file, &f->file));
}

static uint32_t add(const struct ml_python *py, const struct ml_python_place *place, uint32_t slot)
{
    uint32_t number = frame_tables.count + 1;
    struct frame frame = {.place = *place};

    if (number == frame_tables.frames_max || !describe(py, &frame))
        return 0;
    frame_tables.frames[number] = frame;
    /* Pairs with the acquire load in ml_python_frames_announce: the frame is complete. */
    atomic_store_explicit(&frame_tables.count, number, memory_order_release);
    announce(number);
    frame_tables.slots[slot] = number;
    return number;
}

uint32_t ml_python_frame(const struct ml_python *py, const struct ml_python_place *place)
{
    uint32_t i = (uint32_t)XXH3_64bits(place, sizeof(*place));
    uint32_t mask;

    if (!reserve_tables())
        return 0;
    mask = 2 * frame_tables.frames_max - 1;
    for (i &= mask; frame_tables.slots[i]; i = (i + 1) & mask) {
        if (same(&frame_tables.frames[frame_tables.slots[i]].place, place))
            return frame_tables.slots[i];
    }
    return add(py, place, i);
}

void ml_python_frames_announce(void)
{
    uint32_t n = atomic_load_explicit(&frame_tables.count, memory_order_acquire);

    for (uint32_t i = 1; i <= n; i++)
        announce(i);
}
