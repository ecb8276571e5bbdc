/* json.c: see json.h.
 *
 * Commas need no stack: the last call alone decides whether the next item needs one. After a
 * begin it does not; after an end it does, because the closed container precedes it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "utf8.h"

#define INDENT 2

void ml_json_init(struct ml_json *json, struct ml_buf *out, bool pretty)
{
    *json = (struct ml_json){.out = out, .pretty = pretty, .first = true};
}

static void fail(struct ml_json *json, int r)
{
    if (json->error == 0)
        json->error = r;
}

static void put(struct ml_json *json, const char *bytes, size_t len)
{
    if (json->error == 0)
        fail(json, ml_buf_append(json->out, bytes, len));
}

static void put_break(struct ml_json *json)
{
    if (!json->pretty)
        return;
    put(json, "\n", 1);
    if (json->error == 0)
        fail(json, ml_buf_fill(json->out, ' ', json->depth * INDENT));
}

static bool in_object(const struct ml_json *json)
{
    size_t level = json->depth - 1;

    return json->depth > 0 && (json->is_object[level / 8] >> level % 8 & 1);
}

static void open_level(struct ml_json *json, bool object)
{
    uint8_t bit = (uint8_t)(1u << json->depth % 8);
    uint8_t *bits = &json->is_object[json->depth / 8];

    *bits = (uint8_t)(object ? *bits | bit : *bits & ~bit);
    json->depth++;
    json->first = true;
}

/* Separates an item from the previous one of its container. */
static void put_separator(struct ml_json *json)
{
    if (!json->first)
        put(json, ",", 1);
    if (json->depth > 0)
        put_break(json);
    json->first = false;
}

/* Writes everything that precedes a value. Returns whether a value is allowed here. */
static bool start_value(struct ml_json *json)
{
    if (json->error == 0 && !json->after_key) {
        if (in_object(json) || (json->depth == 0 && !json->first))
            fail(json, -EINVAL);
        else
            put_separator(json);
    }
    json->after_key = false;
    return json->error == 0;
}

static void begin(struct ml_json *json, bool object)
{
    if (!start_value(json))
        return;
    if (json->depth == ML_JSON_DEPTH_MAX) {
        fail(json, -EOVERFLOW);
        return;
    }
    open_level(json, object);
    put(json, object ? "{" : "[", 1);
}

static void end(struct ml_json *json, bool object)
{
    if (json->error != 0)
        return;
    if (json->depth == 0 || in_object(json) != object || json->after_key) {
        fail(json, -EINVAL);
        return;
    }
    json->depth--;
    if (!json->first)
        put_break(json);
    json->first = false;
    put(json, object ? "}" : "]", 1);
}

void ml_json_begin_object(struct ml_json *json)
{
    begin(json, true);
}

void ml_json_end_object(struct ml_json *json)
{
    end(json, true);
}

void ml_json_begin_array(struct ml_json *json)
{
    begin(json, false);
}

void ml_json_end_array(struct ml_json *json)
{
    end(json, false);
}

/* The number of bytes at the start of s that need no escape. */
static size_t plain_run(const char *s, size_t len)
{
    size_t n = 0;

    while (n < len && s[n] >= 0x20 && s[n] < 0x7f && s[n] != '"' && s[n] != '\\')
        n++;
    return n;
}

static void put_escape(struct ml_json *json, uint8_t byte)
{
    static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
    const char *known = byte != 0 ? strchr(from, byte) : NULL;
    char text[8];
    int len;

    if (known)
        len = snprintf(text, sizeof(text), "\\%c", to[known - from]);
    else
        len = snprintf(text, sizeof(text), "\\u%04x", byte);
    put(json, text, (size_t)len);
}

/* Writes one character that needs care. Returns the number of bytes it takes in s. */
static size_t put_special(struct ml_json *json, const char *s, size_t len)
{
    uint32_t codepoint;
    size_t bytes;

    if ((uint8_t)s[0] < 0x80) {
        put_escape(json, (uint8_t)s[0]);
        return 1;
    }
    bytes = ml_utf8_decode(s, len, &codepoint);
    if (bytes == 0) {
        put(json, ML_UTF8_REPLACEMENT, strlen(ML_UTF8_REPLACEMENT));
        return 1;
    }
    put(json, s, bytes);
    return bytes;
}

static void put_string(struct ml_json *json, const char *s, size_t len)
{
    put(json, "\"", 1);
    for (size_t at = 0; at < len;) {
        size_t run = plain_run(s + at, len - at);

        put(json, s + at, run);
        at += run;
        if (at < len)
            at += put_special(json, s + at, len - at);
    }
    put(json, "\"", 1);
}

void ml_json_key(struct ml_json *json, const char *key)
{
    if (json->error != 0)
        return;
    if (!in_object(json) || json->after_key) {
        fail(json, -EINVAL);
        return;
    }
    put_separator(json);
    put_string(json, key, strlen(key));
    put(json, ": ", json->pretty ? 2 : 1);
    json->after_key = true;
}

void ml_json_string(struct ml_json *json, const char *s, size_t len)
{
    if (start_value(json))
        put_string(json, s, len);
}

void ml_json_cstr(struct ml_json *json, const char *s)
{
    if (s)
        ml_json_string(json, s, strlen(s));
    else
        ml_json_null(json);
}

void ml_json_u64(struct ml_json *json, uint64_t v)
{
    if (start_value(json))
        fail(json, ml_buf_u64(json->out, v));
}

void ml_json_i64(struct ml_json *json, int64_t v)
{
    if (start_value(json))
        fail(json, ml_buf_i64(json->out, v));
}

/* Replaces the locale's decimal sign, which may have several bytes, by a point. */
static void use_point(char *number)
{
    size_t sign = strspn(number, "+-0123456789eE");
    size_t rest = sign + strcspn(number + sign, "+-0123456789eE");

    if (rest == sign)
        return;
    number[sign] = '.';
    memmove(number + sign + 1, number + rest, strlen(number + rest) + 1);
}

void ml_json_double(struct ml_json *json, double v)
{
    char text[40];

    if (!isfinite(v)) {
        ml_json_null(json);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, v);
        if (strtod(text, NULL) == v)
            break;
    }
    use_point(text);
    if (start_value(json))
        put(json, text, strlen(text));
}

void ml_json_thousandths(struct ml_json *json, uint64_t v)
{
    if (start_value(json))
        fail(json, ml_buf_printf(json->out, "%" PRIu64 ".%03u", v / 1000, (unsigned)(v % 1000)));
}

void ml_json_bool(struct ml_json *json, bool v)
{
    if (start_value(json))
        put(json, v ? "true" : "false", v ? 4 : 5);
}

void ml_json_null(struct ml_json *json)
{
    if (start_value(json))
        put(json, "null", 4);
}

int ml_json_finish(struct ml_json *json)
{
    if (json->error == 0 && (json->depth > 0 || json->first))
        fail(json, -EINVAL);
    if (json->pretty)
        put(json, "\n", 1);
    return json->error;
}

void ml_json_kv_string(struct ml_json *json, const char *key, const char *s, size_t len)
{
    ml_json_key(json, key);
    ml_json_string(json, s, len);
}

void ml_json_kv_cstr(struct ml_json *json, const char *key, const char *s)
{
    ml_json_key(json, key);
    ml_json_cstr(json, s);
}

void ml_json_kv_u64(struct ml_json *json, const char *key, uint64_t v)
{
    ml_json_key(json, key);
    ml_json_u64(json, v);
}

void ml_json_kv_i64(struct ml_json *json, const char *key, int64_t v)
{
    ml_json_key(json, key);
    ml_json_i64(json, v);
}

void ml_json_kv_double(struct ml_json *json, const char *key, double v)
{
    ml_json_key(json, key);
    ml_json_double(json, v);
}

void ml_json_kv_bool(struct ml_json *json, const char *key, bool v)
{
    ml_json_key(json, key);
    ml_json_bool(json, v);
}

void ml_json_kv_null(struct ml_json *json, const char *key)
{
    ml_json_key(json, key);
    ml_json_null(json);
}
