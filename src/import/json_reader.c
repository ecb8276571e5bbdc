/* json_reader.c: see json_reader.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "json_reader.h"

#include <errno.h>
#include <string.h>

void ml_json_reader_release(struct ml_json_reader *j)
{
    ml_buf_release(&j->text);
}

static bool is_space(int c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static int keep(struct ml_json_reader *j, const void *bytes, size_t len, struct ml_error *err)
{
    size_t room = ML_JSON_TEXT_MAX - j->text.len;

    len = len < room ? len : room;
    return ml_buf_append(&j->text, bytes, len) < 0 ? ml_error_set(err, -ENOMEM, "not enough memory")
                                                   : 0;
}

static int keep_byte(struct ml_json_reader *j, int c, struct ml_error *err)
{
    uint8_t byte = (uint8_t)c;

    return keep(j, &byte, 1, err);
}

/* The next byte, -1 at the end, or negative errno below that. */
static int next_byte(struct ml_json_reader *j, struct ml_error *err)
{
    struct ml_import_source *s = j->source;

    if (s->at == s->len) {
        int r = ml_import_next_window(s, err);

        if (r <= 0)
            return r == 0 ? -1 : r == -1 ? -EIO : r;
    }
    return s->data[s->at++];
}

/* ---- Strings as JSON has them ------------------------------------------- */

static int hex_digit(int c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Four hexadecimal digits. @return the number, negative on failure */
static int read_unit(struct ml_json_reader *j, struct ml_error *err)
{
    int unit = 0;

    for (int i = 0; i < 4; i++) {
        int c = next_byte(j, err);
        int digit = c < -1 ? c : hex_digit(c);

        if (c < -1)
            return c;
        if (digit < 0)
            return ml_import_bad(j->source, err, "\\u without four hexadecimal digits");
        unit = unit << 4 | digit;
    }
    return unit;
}

static int keep_code_point(struct ml_json_reader *j, uint32_t c, struct ml_error *err)
{
    uint8_t b[4];
    size_t len = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

    for (size_t i = len; i-- > 1; c >>= 6)
        b[i] = (uint8_t)(0x80 | (c & 0x3f));
    b[0] = (uint8_t)(len == 1 ? c : (0xf00u >> len & 0xff) | c);
    return keep(j, b, len, err);
}

/* An unpaired surrogate becomes the replacement character. */
static int read_escaped_unit(struct ml_json_reader *j, struct ml_error *err)
{
    const uint8_t *ahead;
    size_t len;
    int unit = read_unit(j, err), low;
    int r;

    if (unit < 0)
        return unit;
    if (unit < 0xd800 || unit > 0xdfff)
        return keep_code_point(j, (uint32_t)unit, err);
    r = ml_import_peek(j->source, 2, &ahead, &len, err);
    if (r < 0)
        return r;
    if (unit > 0xdbff || len < 2 || ahead[0] != '\\' || ahead[1] != 'u')
        return keep_code_point(j, 0xfffd, err);
    ml_import_take(j->source, 2);
    low = read_unit(j, err);
    if (low < 0)
        return low;
    if (low < 0xdc00 || low > 0xdfff)
        return keep_code_point(j, 0xfffd, err);
    return keep_code_point(
        j, 0x10000u + ((uint32_t)(unit - 0xd800) << 10) + (uint32_t)(low - 0xdc00), err);
}

static int read_escape(struct ml_json_reader *j, struct ml_error *err)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    int c = next_byte(j, err);
    const char *at;

    if (c < 0)
        return c;
    if (c == 'u')
        return read_escaped_unit(j, err);
    at = c ? strchr(from, c) : NULL;
    if (!at)
        return ml_import_bad(j->source, err, "an unknown escape in a string");
    return keep_byte(j, to[at - from], err);
}

/* ---- Strings as MXNet writes them --------------------------------------- */

/* The keys of its events: one of them follows each string except the last. */
static bool is_event_key(const uint8_t *at, size_t len)
{
    static const char *const keys[] = {"name", "cat", "ph",  "ts",   "id",
                                       "s",    "pid", "tid", "args", "displayTimeUnit"};

    for (size_t i = 0; i < ML_ARRAY_SIZE(keys); i++) {
        size_t n = strlen(keys[i]);

        if (len >= n + 3 && at[0] == '"' && memcmp(at + 1, keys[i], n) == 0 && at[n + 1] == '"' &&
            at[n + 2] == ':')
            return true;
    }
    return false;
}

static size_t skip_spaces(const uint8_t *at, size_t i, size_t len)
{
    while (i < len && is_space(at[i]))
        i++;
    return i;
}

/* Whether the quote that was just taken ends the string. */
static int raw_ends(struct ml_json_reader *j, bool is_key, struct ml_error *err)
{
    const uint8_t *at;
    size_t len, i;
    int r = ml_import_peek(j->source, 256, &at, &len, err);

    if (r < 0)
        return r;
    i = skip_spaces(at, 0, len);
    if (i == len)
        return 1;
    if (is_key)
        return at[i] == ':';
    if (at[i] == '}' || at[i] == ']') {
        i = skip_spaces(at, i + 1, len);
        return i == len || strchr(",}]", at[i] ? at[i] : 'x') != NULL;
    }
    if (at[i] != ',')
        return 0;
    i = skip_spaces(at, i + 1, len);
    return i == len || is_event_key(at + i, len - i);
}

/* ---- Tokens ------------------------------------------------------------- */

/* Takes the text before the next quote or backslash, as far as the window has it. */
static int keep_stretch(struct ml_json_reader *j, struct ml_error *err)
{
    const uint8_t *at;
    size_t len, n = 0;
    int r = ml_import_peek(j->source, 1, &at, &len, err);

    if (r < 0)
        return r;
    while (n < len && at[n] != '"' && at[n] != '\\')
        n++;
    r = keep(j, at, n, err);
    ml_import_take(j->source, n);
    return r;
}

static int read_string(struct ml_json_reader *j, bool is_key, struct ml_error *err)
{
    ml_buf_clear(&j->text);
    for (;;) {
        int r = keep_stretch(j, err), c = r < 0 ? r : next_byte(j, err);

        if (c < -1)
            return c;
        if (c == -1) {
            j->cut = true;
            return ML_JSON_END;
        }
        if (c == '"') {
            r = j->raw ? raw_ends(j, is_key, err) : 1;
            if (r < 0)
                return r;
            if (r)
                return is_key ? ML_JSON_KEY : ML_JSON_STRING;
        }
        r = c == '\\' && !j->raw ? read_escape(j, err) : keep_byte(j, c, err);
        if (r == -1) {
            j->cut = true;
            return ML_JSON_END;
        }
        if (r < 0)
            return r;
    }
}

static bool is_plain(int c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' ||
           c == '-' || c == '.';
}

/* A number or a word, up to the first character that cannot belong to it. */
static int read_plain(struct ml_json_reader *j, int first, struct ml_error *err)
{
    int r;

    ml_buf_clear(&j->text);
    r = keep_byte(j, first, err);
    while (r == 0) {
        const uint8_t *at;
        size_t len, n = 0;

        r = ml_import_peek(j->source, 1, &at, &len, err);
        if (r < 0)
            break;
        if (len == 0) {
            j->cut = j->depth > 0; /* digits may be missing */
            if (j->cut)
                return ML_JSON_END;
            break;
        }
        while (n < len && is_plain(at[n]))
            n++;
        r = keep(j, at, n, err);
        ml_import_take(j->source, n);
        if (n < len)
            break;
    }
    if (r < 0)
        return r;
    return (first >= '0' && first <= '9') || first == '-' ? ML_JSON_NUMBER : ML_JSON_WORD;
}

static int enter(struct ml_json_reader *j, bool object, struct ml_error *err)
{
    if (j->depth == ML_JSON_DEPTH_MAX)
        return ml_import_bad(j->source, err, "nested more than %d deep", ML_JSON_DEPTH_MAX);
    j->in_object[j->depth++] = object;
    return object ? ML_JSON_OBJECT : ML_JSON_ARRAY;
}

static int leave(struct ml_json_reader *j, bool object, struct ml_error *err)
{
    if (j->depth == 0 || j->in_object[j->depth - 1] != object)
        return ml_import_bad(j->source, err, "a '%c' without its opening bracket",
                             object ? '}' : ']');
    j->depth--;
    return object ? ML_JSON_OBJECT_END : ML_JSON_ARRAY_END;
}

/* The colon after a key. */
static int read_colon(struct ml_json_reader *j, struct ml_error *err)
{
    int c;

    do
        c = next_byte(j, err);
    while (is_space(c));
    if (c == ':') {
        j->has_key = true;
        return ML_JSON_KEY;
    }
    if (c == -1) {
        j->cut = true;
        return ML_JSON_END;
    }
    return c < 0 ? c : ml_import_bad(j->source, err, "no ':' after a name");
}

int ml_json_next(struct ml_json_reader *j, struct ml_error *err)
{
    bool key_wanted = j->depth && j->in_object[j->depth - 1] && !j->has_key;
    bool had_key = j->has_key;
    int c;

    do
        c = next_byte(j, err);
    while (is_space(c) || (c == ',' && !had_key));
    j->has_key = false;
    if (c < 0) {
        j->cut = c == -1 && j->depth > 0;
        return c == -1 ? ML_JSON_END : c;
    }
    if (c == '"') {
        int token = read_string(j, key_wanted, err);

        return token == ML_JSON_KEY ? read_colon(j, err) : token;
    }
    if ((c == '}' || c == ']') && !had_key)
        return leave(j, c == '}', err);
    if (!key_wanted && (c == '{' || c == '['))
        return enter(j, c == '{', err);
    if (!key_wanted && is_plain(c))
        return read_plain(j, c, err);
    return ml_import_bad(j->source, err, "this is not JSON");
}

int ml_json_skip(struct ml_json_reader *j, int token, struct ml_error *err)
{
    unsigned depth = j->depth;

    if (token != ML_JSON_OBJECT && token != ML_JSON_ARRAY)
        return token < 0 ? token : 0;
    while (j->depth >= depth) {
        token = ml_json_next(j, err);
        if (token <= ML_JSON_END)
            return token;
    }
    return 0;
}
