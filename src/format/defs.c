/* defs.c: bytes of definition records.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "defs.h"

#include <string.h>

#include "block.h"
#include "varint.h"

static const uint8_t field_count[ML_DEF_TAGS] = {
    [ML_DEF_PROCESS] = 6,       [ML_DEF_THREAD] = 4,      [ML_DEF_SPACE] = 6,
    [ML_DEF_SCOPE] = 4,         [ML_DEF_OBJECT] = 4,      [ML_DEF_CONFIG] = 1,
    [ML_DEF_LIBRARY] = 5,       [ML_DEF_FRAME] = 4,       [ML_DEF_STACK] = 2,
    [ML_DEF_SYMBOL] = 3,        [ML_DEF_THREAD_NAME] = 1, [ML_DEF_PROCESS_ROLE] = 1,
    [ML_DEF_PROCESS_PLACE] = 1,
};

/* Fields at the end of a body that files of an earlier minor version lack. */
static const uint8_t later_fields[ML_DEF_TAGS] = {
    [ML_DEF_PROCESS] = 1, [ML_DEF_SPACE] = 2, [ML_DEF_SCOPE] = 1};

int ml_def_field_count(uint8_t tag)
{
    return field_count[tag];
}

size_t ml_def_room(const struct ml_def *def)
{
    return (3 + ML_DEF_FIELDS) * ML_VARINT_MAX + def->len;
}

static uint8_t *put_body(uint8_t *out, const struct ml_def *def)
{
    out = ml_varint_put(out, def->id);
    for (int i = 0; i < field_count[def->tag]; i++)
        out = ml_varint_put(out, def->fields[i]);
    return out;
}

uint8_t *ml_def_put(uint8_t *out, const struct ml_def *def)
{
    uint8_t body[(1 + ML_DEF_FIELDS) * ML_VARINT_MAX];
    size_t body_bytes = (size_t)(put_body(body, def) - body);
    uint32_t len = def->tag == ML_DEF_STRING ? def->len : 0;

    out = ml_varint_put(out, def->tag);
    out = ml_varint_put(out, body_bytes + len);
    memcpy(out, body, body_bytes);
    if (len)
        memcpy(out + body_bytes, def->bytes, len);
    return out + body_bytes + len;
}

static int get_body(const uint8_t *in, const uint8_t *end, struct ml_def *def)
{
    int needed = field_count[def->tag] - later_fields[def->tag];
    uint64_t id;

    in = ml_varint_get(in, end, &id);
    if (!in || id >= ML_ID_MAX)
        return -1;
    def->id = (uint32_t)id;
    for (int i = 0; i < field_count[def->tag] && (i < needed || in < end); i++) {
        in = ml_varint_get(in, end, &def->fields[i]);
        if (!in)
            return -1;
    }
    if (def->tag == ML_DEF_STRING) {
        def->bytes = (const char *)in;
        def->len = (uint32_t)(end - in);
        if (def->len > ML_STRING_MAX_BYTES)
            return -1;
    }
    return 0;
}

const uint8_t *ml_def_get(const uint8_t *in, const uint8_t *end, struct ml_def *ret)
{
    uint64_t tag, len;

    memset(ret, 0, sizeof(*ret));
    in = ml_varint_get(in, end, &tag);
    in = in ? ml_varint_get(in, end, &len) : NULL;
    if (!in || !tag || tag > UINT8_MAX || len > (uint64_t)(end - in))
        return NULL;
    ret->tag = (uint8_t)tag;
    if (tag < ML_DEF_TAGS && get_body(in, in + len, ret))
        return NULL;
    return in + len;
}
