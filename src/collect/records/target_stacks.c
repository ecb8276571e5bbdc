/* target_stacks.c: see target_stacks.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "target_stacks.h"

#include <string.h>

#include "record_words.h"

#define LIBRARIES_MAX (1u << 16)
#define STACKS_MAX (1u << 20)

static bool is_library(const struct ml_def *def, const uint64_t fields[ML_DEF_FIELDS])
{
    return def && !memcmp(def->fields, fields, sizeof(def->fields));
}

/* Addresses mean what they meant, unless the library covers parts of one that was announced after
 * it. */
static bool covers_later(const struct ml_target *t, size_t i)
{
    const struct ml_target_library *l = &t->libraries.items[i];

    while (++i < t->libraries.len) {
        if (t->libraries.items[i].base < l->end && l->base < t->libraries.items[i].end)
            return true;
    }
    return false;
}

static void forget_addresses(struct ml_target *t)
{
    t->libraries_version++;
    ml_map_clear(&t->frames);
}

/* Moves the library to the end of the list: it is the one that is loaded now. */
static bool take_out(struct ml_target *t, uint32_t number, struct ml_target_library *ret)
{
    size_t i = 0;

    while (i < t->libraries.len && t->libraries.items[i].number != number)
        i++;
    if (i == t->libraries.len)
        return false;
    *ret = t->libraries.items[i];
    if (covers_later(t, i))
        forget_addresses(t);
    t->libraries.len--;
    memmove(&t->libraries.items[i], &t->libraries.items[i + 1],
            (t->libraries.len - i) * sizeof(*t->libraries.items));
    return true;
}

void ml_target_take_library(struct ml_dict *dict, struct ml_source *s)
{
    struct ml_target *t = s->target;
    uint64_t pair = ml_word(s, 1);
    uint64_t fields[ML_DEF_FIELDS] = {
        [ML_LIBRARY_PROCESS] = t->process,
        [ML_LIBRARY_BASE] = ml_word(s, 2),
        [ML_LIBRARY_END] = ml_word(s, 3),
        [ML_LIBRARY_PATH] = ml_target_string(t, ml_low(pair)),
        [ML_LIBRARY_BUILD_ID] = ml_target_string(t, ml_low(ml_word(s, 4))),
    };
    struct ml_target_library library = {.number = ml_high(pair)};
    bool known = take_out(t, library.number, &library);

    if (fields[ML_LIBRARY_BASE] >= fields[ML_LIBRARY_END] || library.number >= LIBRARIES_MAX)
        return;
    if (!known || !is_library(ml_dict_get(dict, ML_DEF_LIBRARY, library.id), fields)) {
        forget_addresses(t);
        library.id = ml_dict_add(dict, ML_DEF_LIBRARY, fields);
    }
    library.base = fields[ML_LIBRARY_BASE];
    library.end = fields[ML_LIBRARY_END];
    if (ml_vec_push(&t->libraries, library))
        dict->unkept++;
}

/* A return address may be the first byte after the last function. */
static struct ml_dict_frame frame_at(const struct ml_target *t, uint64_t address)
{
    if (address == ML_STACK_ENDS_EARLY)
        return (struct ml_dict_frame){.kind = ML_FRAME_NATIVE}; /* symbols.c names it */
    for (size_t i = t->libraries.len; i-- > 0;) {
        const struct ml_target_library *l = &t->libraries.items[i];
        if (address > l->base && address <= l->end)
            return (struct ml_dict_frame){
                .kind = ML_FRAME_NATIVE, .where = 1 + (uint64_t)l->id, .what = address - l->base};
    }
    return (struct ml_dict_frame){.kind = ML_FRAME_NATIVE, .what = address};
}

/* In the trace's numbers; -1: unknown. */
static int64_t python_frame(const struct ml_target *t, uint64_t number)
{
    return number < t->python_frames.len ? (int64_t)t->python_frames.items[number] - 1 : -1;
}

int64_t ml_target_frame(struct ml_dict *dict, struct ml_target *t, uint64_t word)
{
    struct ml_dict_frame native;
    uint64_t known;
    int64_t frame;

    if (word & ML_STACK_PYTHON_FRAME)
        return python_frame(t, word & ~ML_STACK_PYTHON_FRAME);
    if (ml_map_get(&t->frames, word, &known))
        return (int64_t)known;
    native = frame_at(t, word);
    frame = ml_dict_frame(dict, &native);
    /* Without memory the next one looks it up again. */
    if (frame >= 0)
        ml_map_put(&t->frames, word, (uint64_t)frame);
    return frame;
}

void ml_target_take_stack(struct ml_dict *dict, struct ml_source *s)
{
    struct ml_target *t = s->target;
    uint32_t number = ml_high(ml_word(s, 1));
    uint32_t stack = 0;

    if (!number || !ml_table_reach(&t->stacks, number, STACKS_MAX))
        return;
    for (uint32_t i = s->words; i-- > 2;)
        stack = ml_dict_stack(dict, stack, ml_target_frame(dict, t, ml_word(s, i)));
    t->stacks.items[number] = stack;
}

void ml_target_take_python_frame(struct ml_dict *dict, struct ml_source *s)
{
    struct ml_target *t = s->target;
    uint64_t names = ml_word(s, 1), place = ml_word(s, 2);
    uint32_t number = ml_high(names);
    struct ml_dict_frame frame = {
        .kind = ML_FRAME_PYTHON,
        .where = ml_target_string(t, ml_low(names)),
        .what = ml_target_string(t, ml_high(place)),
        .line = ml_low(place),
    };

    if (number && ml_table_reach(&t->python_frames, number, STACKS_MAX))
        t->python_frames.items[number] = (uint32_t)(1 + ml_dict_frame(dict, &frame));
}

/* Unknown frames are left out. */
void ml_target_take_python_stack(struct ml_dict *dict, struct ml_source *s)
{
    struct ml_target *t = s->target;
    uint64_t pair = ml_word(s, 1);
    uint32_t number = ml_high(pair);
    uint32_t frames = ml_low(pair);
    uint32_t stack = 0;

    if (!number || !ml_table_reach(&t->stacks, number, STACKS_MAX))
        return;
    for (uint32_t i = frames; i-- > 0;) {
        uint64_t two = ml_word(s, 2 + i / 2);
        uint32_t frame = i % 2 ? ml_high(two) : ml_low(two);
        stack = ml_dict_stack(dict, stack, python_frame(t, frame));
    }
    t->stacks.items[number] = stack;
}
