/* pprof_profile.c: see pprof_profile.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pprof_profile.h"

#include <string.h>

/* Field numbers of the small messages. */
#define NUMBERS 8

static int read_numbers(struct ml_wire message, uint64_t ret[NUMBERS])
{
    struct ml_wire_field field;

    memset(ret, 0, NUMBERS * sizeof(*ret));
    while (ml_wire_next(&message, &field))
        if (field.type == ML_WIRE_VARINT && field.number < NUMBERS)
            ret[field.number] = field.value;
    return message.damaged ? -EINVAL : 0;
}

static int read_type(struct ml_pprof_profile *p, struct ml_wire message)
{
    uint64_t n[NUMBERS];

    if (read_numbers(message, n) < 0)
        return -EINVAL;
    return ml_vec_push(&p->types, (struct ml_pprof_type){.type = n[1], .unit = n[2]});
}

static int read_mapping(struct ml_pprof_profile *p, struct ml_wire message)
{
    uint64_t n[NUMBERS];

    if (read_numbers(message, n) < 0)
        return -EINVAL;
    if (ml_vec_push(
            &p->mappings,
            (struct ml_pprof_mapping){
                .start = n[2], .end = n[3], .offset = n[4], .file = n[5], .build_id = n[6]}) < 0)
        return -ENOMEM;
    return ml_map_put(&p->mapping_of, n[1], p->mappings.len - 1);
}

static int read_function(struct ml_pprof_profile *p, struct ml_wire message)
{
    uint64_t n[NUMBERS];

    if (read_numbers(message, n) < 0)
        return -EINVAL;
    if (ml_vec_push(&p->functions, (struct ml_pprof_function){.name = n[2], .file = n[4]}) < 0)
        return -ENOMEM;
    return ml_map_put(&p->function_of, n[1], p->functions.len - 1);
}

static int read_location(struct ml_pprof_profile *p, struct ml_wire message)
{
    struct ml_pprof_location location = {.first_line = (uint32_t)p->lines.len};
    struct ml_wire_field field;
    uint64_t id = 0, n[NUMBERS];

    while (ml_wire_next(&message, &field)) {
        switch (field.number) {
        case 1: id = field.value; break;
        case 2: location.mapping = field.value; break;
        case 3: location.address = field.value; break;
        case 4:
            if (field.type != ML_WIRE_BYTES || read_numbers(field.bytes, n) < 0)
                return -EINVAL;
            if (ml_vec_push(&p->lines, (struct ml_pprof_line){.function = n[1], .line = n[2]}) < 0)
                return -ENOMEM;
            location.lines++;
            break;
        default: break;
        }
    }
    if (message.damaged)
        return -EINVAL;
    if (ml_vec_push(&p->locations, location) < 0)
        return -ENOMEM;
    return ml_map_put(&p->location_of, id, p->locations.len - 1);
}

static int read_text(struct ml_pprof_profile *p, struct ml_wire bytes)
{
    struct ml_pprof_text text = {(const char *)bytes.at, (size_t)(bytes.end - bytes.at)};

    return ml_vec_push(&p->texts, text);
}

static int read_field(struct ml_pprof_profile *p, const struct ml_wire_field *field)
{
    if (field->number == ML_PPROF_TIME_NS)
        p->time_ns = field->value;
    if (field->number == ML_PPROF_DEFAULT_TYPE)
        p->default_type = field->value;
    if (field->type != ML_WIRE_BYTES)
        return 0;
    switch (field->number) {
    case ML_PPROF_SAMPLE_TYPE: return read_type(p, field->bytes);
    case ML_PPROF_MAPPING: return read_mapping(p, field->bytes);
    case ML_PPROF_LOCATION: return read_location(p, field->bytes);
    case ML_PPROF_FUNCTION: return read_function(p, field->bytes);
    case ML_PPROF_STRING: return read_text(p, field->bytes);
    default: return 0;
    }
}

int ml_pprof_read(const uint8_t *bytes, size_t len, struct ml_pprof_profile *ret)
{
    struct ml_wire whole = {.at = bytes, .end = bytes + len};
    struct ml_wire_field field;
    int r = 0;

    *ret = (struct ml_pprof_profile){.whole = whole};
    while (r == 0 && ml_wire_next(&whole, &field))
        r = read_field(ret, &field);
    return r < 0 ? r : whole.damaged ? -EINVAL : 0;
}

void ml_pprof_release(struct ml_pprof_profile *p)
{
    ml_vec_release(&p->texts);
    ml_vec_release(&p->types);
    ml_vec_release(&p->mappings);
    ml_vec_release(&p->functions);
    ml_vec_release(&p->locations);
    ml_vec_release(&p->lines);
    ml_map_release(&p->mapping_of);
    ml_map_release(&p->function_of);
    ml_map_release(&p->location_of);
}

struct ml_pprof_text ml_pprof_text(const struct ml_pprof_profile *p, uint64_t number)
{
    return number < p->texts.len ? p->texts.items[number] : (struct ml_pprof_text){"", 0};
}

bool ml_pprof_text_is(const struct ml_pprof_profile *p, uint64_t number, const char *text)
{
    struct ml_pprof_text t = ml_pprof_text(p, number);

    return t.len == strlen(text) && memcmp(t.bytes, text, t.len) == 0;
}

const struct ml_pprof_mapping *ml_pprof_mapping(const struct ml_pprof_profile *p, uint64_t id)
{
    uint64_t index;

    return ml_map_get(&p->mapping_of, id, &index) ? &p->mappings.items[index] : NULL;
}

const struct ml_pprof_function *ml_pprof_function(const struct ml_pprof_profile *p, uint64_t id)
{
    uint64_t index;

    return ml_map_get(&p->function_of, id, &index) ? &p->functions.items[index] : NULL;
}
