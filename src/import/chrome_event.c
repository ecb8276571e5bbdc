/* chrome_event.c: see chrome_event.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "chrome_event.h"

#include <errno.h>
#include <math.h>
#include <string.h>

void ml_chrome_event_release(struct ml_chrome_event *e)
{
    ml_buf_release(&e->texts);
}

struct ml_slice ml_chrome_text(const struct ml_chrome_event *e, struct ml_chrome_text text)
{
    if (!text.token)
        return (struct ml_slice){"", 0};
    return (struct ml_slice){(const char *)e->texts.data + text.at, text.len};
}

/* ---- Reading ------------------------------------------------------------ */

static int keep(struct ml_chrome_event *e, const struct ml_json_reader *j, int token,
                struct ml_chrome_text *ret, struct ml_error *err)
{
    *ret = (struct ml_chrome_text){e->texts.len, j->text.len, token};
    if (ml_buf_append(&e->texts, j->text.data ? (const void *)j->text.data : "", j->text.len) < 0)
        return ml_error_set(err, -ENOMEM, "not enough memory");
    return 0;
}

static int field_of(struct ml_slice key)
{
    static const char *const names[ML_CHROME_FIELDS] = {"name", "cat", "ph", "ts", "dur",
                                                        "pid",  "tid", "id", "s"};

    for (int i = 0; i < ML_CHROME_FIELDS; i++)
        if (ml_slice_is(key, names[i]))
            return i;
    return -1;
}

static bool is_value(int token)
{
    return token == ML_JSON_STRING || token == ML_JSON_NUMBER || token == ML_JSON_WORD;
}

/* 1 at the end of the object, 0 at the end of the source. */
static int read_args(struct ml_chrome_event *e, struct ml_json_reader *j, struct ml_error *err)
{
    for (;;) {
        struct ml_chrome_arg arg;
        int token = ml_json_next(j, err);
        int r = 0;

        if (token == ML_JSON_OBJECT_END)
            return 1;
        if (token <= ML_JSON_END)
            return token;
        r = keep(e, j, token, &arg.key, err);
        if (r < 0)
            return r;
        token = ml_json_next(j, err);
        if (token <= ML_JSON_END)
            return token;
        if (!is_value(token))
            r = ml_json_skip(j, token, err);
        else if (e->arg_count < ML_CHROME_ARGS_MAX) {
            r = keep(e, j, token, &arg.value, err);
            e->args[e->arg_count++] = arg;
        }
        if (r < 0)
            return r;
    }
}

/* The value after a key. */
static int read_field(struct ml_chrome_event *e, struct ml_json_reader *j, struct ml_error *err)
{
    int field = field_of(ml_json_text(j));
    bool is_args = ml_slice_is(ml_json_text(j), "args");
    int token = ml_json_next(j, err);
    int r;

    if (token <= ML_JSON_END)
        return token;
    if (is_args && token == ML_JSON_OBJECT)
        return read_args(e, j, err);
    if (field >= 0 && is_value(token))
        r = keep(e, j, token, &e->fields[field], err);
    else
        r = ml_json_skip(j, token, err);
    return r < 0 ? r : !j->cut;
}

int ml_chrome_event_read(struct ml_chrome_event *e, struct ml_json_reader *j, struct ml_error *err)
{
    ml_buf_clear(&e->texts);
    memset(e->fields, 0, sizeof(e->fields));
    e->arg_count = 0;
    for (;;) {
        int token = ml_json_next(j, err);
        int r;

        if (token == ML_JSON_OBJECT_END)
            return 1;
        if (token <= ML_JSON_END)
            return token;
        r = read_field(e, j, err);
        if (r <= 0)
            return r;
    }
}

/* ---- Values ------------------------------------------------------------- */

const struct ml_chrome_arg *ml_chrome_arg(const struct ml_chrome_event *e, const char *key)
{
    for (unsigned i = 0; i < e->arg_count; i++)
        if (ml_slice_is(ml_chrome_text(e, e->args[i].key), key))
            return &e->args[i];
    return NULL;
}

bool ml_chrome_i64(struct ml_slice text, int64_t *ret)
{
    bool negative = text.len && text.text[0] == '-';
    struct ml_slice digits = {text.text + negative, text.len - negative};
    uint64_t value;
    double number;

    if (ml_slice_u64(digits, &value)) {
        if (value > INT64_MAX)
            return false;
        *ret = negative ? -(int64_t)value : (int64_t)value;
        return true;
    }
    if (!ml_slice_double(text, &number) || fabs(number) > 0x1p62)
        return false;
    *ret = (int64_t)rint(number);
    return true;
}

bool ml_chrome_arg_i64(const struct ml_chrome_event *e, const char *key, int64_t *ret)
{
    const struct ml_chrome_arg *arg = ml_chrome_arg(e, key);

    return arg && ml_chrome_i64(ml_chrome_text(e, arg->value), ret);
}

/* Up to three decimals, as a number of thousandths. */
static bool thousandths(struct ml_slice digits, uint64_t *ret)
{
    uint64_t value = 0;

    for (size_t i = 0; i < 3; i++)
        value = value * 10 + (i < digits.len ? (uint64_t)(digits.text[i] - '0') : 0);
    for (size_t i = 0; i < digits.len; i++)
        if (digits.text[i] < '0' || digits.text[i] > '9')
            return false;
    *ret = value;
    return true;
}

/* A double has too few digits for microseconds since 1970 with a fraction. */
bool ml_chrome_ns(struct ml_slice text, uint64_t *ret)
{
    struct ml_slice rest = text;
    uint64_t us, ns = 0;
    double number;

    if (ml_slice_take_u64(&rest, &us) && us < UINT64_MAX / 4000) {
        if (rest.len && rest.text[0] == '.' &&
            thousandths((struct ml_slice){rest.text + 1, rest.len - 1}, &ns))
            rest.len = 0;
        if (rest.len == 0) {
            *ret = us * 1000 + ns;
            return true;
        }
    }
    if (!ml_slice_double(text, &number) || number < 0 || number > 4e15)
        return false;
    *ret = (uint64_t)rint(number * 1000);
    return true;
}
