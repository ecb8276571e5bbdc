/* import_pprof.c: heap profiles in pprof's format, from JAX, Go, tcmalloc, heapprofd.
 *
 * A sample has the live bytes that one stack allocated. It becomes one allocation that is never
 * freed; a profile has no addresses, times or frees.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>
#include <stdio.h>

#include "block.h"
#include "import_formats.h"
#include "import_limits.h"
#include "memledger/memledger.h"
#include "pprof_stacks.h"

#define PROFILE_MOST ((size_t)1 << 30) /* bytes of one profile, unpacked */
#define HOST "cpu"
#define SPACE "heap"

struct import {
    struct ml_import_source *source;
    struct ml_import_sink *sink;
    struct ml_pprof_profile profile;
    struct ml_pprof_stacks stacks;
    uint32_t thread;
    size_t bytes_column, count_column; /* of a sample's values; types.len: none */
    uint64_t unit;                     /* in bytes */
};

/* ---- Which value is memory ---------------------------------------------------------- */

static uint64_t unit_bytes(const struct ml_pprof_profile *p, uint64_t unit)
{
    static const struct {
        const char *name;
        uint64_t bytes;
    } units[] = {{"bytes", 1}, {"byte", 1}, {"kilobytes", 1024}, {"megabytes", 1 << 20}};

    for (size_t i = 0; i < ML_ARRAY_SIZE(units); i++)
        if (ml_pprof_text_is(p, unit, units[i].name))
            return units[i].bytes;
    return 0;
}

static bool mentions(const struct ml_pprof_profile *p, uint64_t text, const char *word)
{
    struct ml_pprof_text t = ml_pprof_text(p, text);

    return memmem(t.bytes, t.len, word, strlen(word)) != NULL;
}

/* Prefers live memory over all memory ever allocated. */
static int score_of(const struct ml_pprof_profile *p, const struct ml_pprof_type *type)
{
    if (mentions(p, type->type, "inuse") || mentions(p, type->type, "nreleased"))
        return 4;
    if (ml_pprof_text_is(p, type->type, "space") || ml_pprof_text_is(p, type->type, "objects"))
        return 3;
    return mentions(p, type->type, "alloc_") || mentions(p, type->type, "Total") ? 1 : 2;
}

static size_t best_column(const struct import *m, bool bytes)
{
    const struct ml_pprof_profile *p = &m->profile;
    size_t found = p->types.len;
    int best = 0;

    for (size_t i = 0; i < p->types.len; i++) {
        bool fits = bytes ? unit_bytes(p, p->types.items[i].unit) > 0
                          : ml_pprof_text_is(p, p->types.items[i].unit, "count");
        int score = fits ? score_of(p, &p->types.items[i]) : 0;

        if (score > best) {
            best = score;
            found = i;
        }
    }
    return found;
}

static int choose_columns(struct import *m, struct ml_error *err)
{
    const struct ml_pprof_profile *p = &m->profile;

    m->bytes_column = best_column(m, true);
    m->count_column = best_column(m, false);
    if (m->bytes_column == p->types.len)
        return ml_error_set(err, -EINVAL,
                            "%s: a profile without a value in bytes; only heap profiles can be "
                            "imported",
                            m->source->name);
    m->unit = unit_bytes(p, p->types.items[m->bytes_column].unit);
    return 0;
}

/* ---- Samples ------------------------------------------------------------------------ */

struct sample {
    uint64_t bytes, count;
    struct ml_pprof_text device, kind;
    uint32_t scope, depth;
};

static uint32_t scope_of(struct import *m, uint32_t parent, uint64_t key, uint64_t value)
{
    struct ml_pprof_text k = ml_pprof_text(&m->profile, key);
    struct ml_pprof_text v = ml_pprof_text(&m->profile, value);
    char name[256];
    int len = snprintf(name, sizeof(name), "%.*s=%.*s", (int)ml_min_u64(k.len, sizeof(name)),
                       k.bytes, (int)ml_min_u64(v.len, sizeof(name)), v.bytes);

    return ml_dict_scope(&m->sink->dict,
                         &(struct ml_dict_scope){
                             .parent = parent,
                             .kind = MEMLEDGER_SCOPE_USER,
                             .name = ml_dict_string(&m->sink->dict, name,
                                                    ml_min_u64((uint64_t)len, sizeof(name) - 1)),
                         });
}

/* {key, text, number}: JAX names the device and the kind of memory, others use their own
 * keys. */
static int read_label(struct import *m, struct ml_wire message, struct sample *sample)
{
    struct ml_wire_field field;
    uint64_t key = 0, text = 0;

    while (ml_wire_next(&message, &field)) {
        if (field.number == 1)
            key = field.value;
        if (field.number == 2)
            text = field.value;
    }
    if (message.damaged)
        return -EINVAL;
    if (text == 0)
        return 0;
    if (ml_pprof_text_is(&m->profile, key, "device"))
        sample->device = ml_pprof_text(&m->profile, text);
    else if (ml_pprof_text_is(&m->profile, key, "kind"))
        sample->kind = ml_pprof_text(&m->profile, text);
    else if (sample->depth++ < ML_SCOPE_MAX_DEPTH)
        sample->scope = scope_of(m, sample->scope, key, text);
    return 0;
}

static void take_value(const struct import *m, struct sample *sample, size_t column, uint64_t value)
{
    if (value > INT64_MAX)
        value = 0; /* negative */
    if (column == m->bytes_column)
        sample->bytes = value > INT64_MAX / m->unit ? INT64_MAX : value * m->unit;
    if (column == m->count_column)
        sample->count = value;
}

static int read_sample(struct import *m, struct ml_wire message, struct sample *sample)
{
    struct ml_wire_field field;
    size_t column = 0;
    int r = 0;

    ml_vec_clear(&m->stacks.ids);
    while (r == 0 && ml_wire_next(&message, &field)) {
        struct ml_wire rest = field.bytes;
        uint64_t value;

        if (field.number == 1)
            while (r == 0 && ml_wire_number(&field, &rest, &value))
                r = ml_vec_push(&m->stacks.ids, value);
        if (field.number == 2)
            while (ml_wire_number(&field, &rest, &value))
                take_value(m, sample, column++, value);
        if (field.number == 3)
            r = read_label(m, field.bytes, sample);
        if (rest.damaged)
            r = -EINVAL;
    }
    return r < 0 ? r : message.damaged ? -EINVAL : 0;
}

/* A text as a C string, cut if it is too long for a name. */
static const char *name_of(struct ml_pprof_text text, const char *otherwise, char *buf, size_t room)
{
    size_t len = text.len < room - 1 ? text.len : room - 1;

    if (len == 0)
        return otherwise;
    memcpy(buf, text.bytes, len);
    buf[len] = '\0';
    return buf;
}

static void put_sample(struct import *m, const struct sample *sample)
{
    char device[64], kind[64];
    struct ml_event event = {.kind = ML_ALLOC, .thread = m->thread, .scope = sample->scope};

    if (sample->bytes == 0 && sample->count == 0)
        return; /* all of it was freed */
    event.space = ml_import_space(
        m->sink, m->stacks.process, name_of(sample->device, HOST, device, sizeof(device)),
        MEMLEDGER_BLOCK, name_of(sample->kind, SPACE, kind, sizeof(kind)));
    event.addr = ml_import_address(m->sink);
    event.size = sample->bytes;
    event.stack = ml_pprof_stack(&m->stacks);
    if (sample->count != 1)
        ml_import_unknown(m->sink, ML_UNKNOWN_ALLOCATIONS);
    ml_import_event(m->sink, &event);
}

static const char *bad_sample(int reason)
{
    if (reason == -ERANGE)
        return ML_IMPORT_TOO_LARGE;
    return reason == -EINVAL ? "a sample is damaged" : "not enough memory";
}

static int put_samples(struct import *m, struct ml_error *err)
{
    struct ml_wire whole = m->profile.whole;
    struct ml_wire_field field;

    while (ml_wire_next(&whole, &field)) {
        struct sample sample = {.count = m->count_column == m->profile.types.len};
        int r;

        if (field.number != ML_PPROF_SAMPLE || field.type != ML_WIRE_BYTES)
            continue;
        r = read_sample(m, field.bytes, &sample);
        if (r == 0 && sample.bytes > ML_IMPORT_BYTES_MAX)
            r = -ERANGE;
        if (r < 0)
            return ml_error_set(err, r, "%s: byte %zu: %s", m->source->name,
                                (size_t)(field.bytes.at - m->profile.whole.at), bad_sample(r));
        put_sample(m, &sample);
    }
    return 0;
}

/* ---- The whole ---------------------------------------------------------------------- */

/* Grows the source's window until it contains the whole profile. */
static int hold_profile(struct ml_import_source *source, const uint8_t **ret, size_t *ret_len,
                        struct ml_error *err)
{
    size_t want = ML_IMPORT_HEAD_BYTES;
    int r;

    do {
        want *= 2;
        r = ml_import_peek(source, want, ret, ret_len, err);
        if (r < 0)
            return r;
        if (*ret_len > PROFILE_MOST)
            return ml_error_set(err, -EFBIG, "%s: a profile of more than 1 GiB", source->name);
    } while (*ret_len >= want);
    ml_import_take(source, *ret_len);
    return 0;
}

static void begin_trace(struct import *m)
{
    const struct ml_pprof_profile *p = &m->profile;
    char command[1024];
    struct ml_pprof_text file = {"", 0};

    if (p->mappings.len)
        file = ml_pprof_text(p, p->mappings.items[0].file); /* the program's comes first */
    if (p->time_ns <= INT64_MAX)
        m->sink->start_wall_ns = p->time_ns;
    ml_import_unknown(m->sink, ML_UNKNOWN_FREES | ML_UNKNOWN_TIMES | ML_UNKNOWN_ORDER);
    m->stacks.process = ml_import_process(m->sink, 0, name_of(file, "", command, sizeof(command)));
    m->thread = ml_import_thread(m->sink, m->stacks.process, 0, "");
}

static int put_profile(struct import *m, struct ml_error *err)
{
    const uint8_t *bytes;
    size_t len;
    int r = hold_profile(m->source, &bytes, &len, err);

    if (r < 0)
        return r;
    r = ml_pprof_read(bytes, len, &m->profile);
    if (r < 0)
        return ml_error_set(err, r, "%s: %s", m->source->name,
                            r == -EINVAL ? "damaged, or not a pprof profile" : "not enough memory");
    r = choose_columns(m, err);
    if (r < 0)
        return r;
    begin_trace(m);
    return put_samples(m, err);
}

static int run(struct ml_import_source *source, struct ml_import_sink *sink, struct ml_error *err)
{
    struct import m = {.source = source, .sink = sink};
    int r;

    m.stacks.profile = &m.profile;
    m.stacks.sink = sink;
    r = put_profile(&m, err);
    ml_pprof_stacks_release(&m.stacks);
    ml_pprof_release(&m.profile);
    return r;
}

/* A message whose first fields have a profile's numbers and types. */
static int recognise(const uint8_t *head, size_t len)
{
    struct ml_wire whole = {.at = head, .end = head + len};
    struct ml_wire_field field;
    uint32_t seen = 0;
    int fields = 0;

    while (ml_wire_next(&whole, &field)) {
        bool message = field.number <= ML_PPROF_STRING;

        if (field.number > ML_PPROF_LAST || (message && field.type != ML_WIRE_BYTES))
            return 0;
        seen |= 1u << field.number;
        fields++;
    }
    if (fields < 3 || (whole.damaged && len < ML_IMPORT_HEAD_BYTES))
        return 0;
    return seen & 1u << ML_PPROF_SAMPLE_TYPE ? 80 : 30;
}

const struct ml_import_format ml_import_pprof = {
    .name = "pprof",
    .help = "a heap profile of JAX, Go, tcmalloc or heapprofd, gzipped or not",
    .recognise = recognise,
    .run = run,
};
