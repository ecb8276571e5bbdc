/* python_tokens.c: see python_tokens.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "python_tokens.h"

#include <ctype.h>
#include <string.h>

void ml_python_tokens_init(struct ml_python_tokens *t, const char *text)
{
    *t = (struct ml_python_tokens){.at = text, .line = 1, .lines = 1, .kind = ML_PYTHON_NEWLINE};
}

void ml_python_tokens_release(struct ml_python_tokens *t)
{
    ml_buf_release(&t->decoded);
}

static enum ml_python_kind bad(struct ml_python_tokens *t, const char *why)
{
    t->why = why;
    return t->kind = ML_PYTHON_BAD;
}

/* ---- Between tokens ----------------------------------------------------- */

/* Comments, joined lines, and inside brackets the ends of lines. */
static bool skip_one(struct ml_python_tokens *t)
{
    const char *p = t->at;

    if (*p == '#') {
        t->at += strcspn(p, "\n");
        return true;
    }
    if (p[0] == '\\' && (p[1] == '\n' || (p[1] == '\r' && p[2] == '\n'))) {
        t->at += p[1] == '\n' ? 2 : 3;
        t->lines++;
        return true;
    }
    if (*p == '\n' && (t->depth > 0 || t->kind == ML_PYTHON_NEWLINE)) {
        t->at++;
        t->lines++;
        return true;
    }
    if (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\f') {
        t->at++;
        return true;
    }
    return false;
}

/* ---- Strings ------------------------------------------------------------ */

/* The character that follows a backslash; 0: this one is not decoded. */
static char escaped(char c)
{
    switch (c) {
    case 'n': return '\n';
    case 't': return '\t';
    case '\\':
    case '\'':
    case '"': return c;
    default: return 0;
    }
}

/* At a backslash that is not the end of the text. @return 0 or -ENOMEM */
static int decode_escape(struct ml_python_tokens *t)
{
    char c = t->at[1], meant = escaped(c);

    t->at += c == '\r' && t->at[2] == '\n' ? 3 : 2;
    t->lines += t->at[-1] == '\n';
    if (t->at[-1] == '\n')
        return 0;
    if (!meant)
        t->why = "write the character itself instead of this escape sequence";
    return meant ? ml_buf_append(&t->decoded, &meant, 1) : 0;
}

/* The same in a raw string, where the backslash stays, and a quote after it does not end it. */
static int keep_escape(struct ml_python_tokens *t)
{
    t->lines += t->at[1] == '\n';
    t->at += 2;
    return ml_buf_append(&t->decoded, t->at - 2, 2);
}

static bool ends_here(const char *p, char quote, bool is_triple)
{
    return *p == quote && (!is_triple || (p[1] == quote && p[2] == quote));
}

/* At the first quote. */
static enum ml_python_kind read_string(struct ml_python_tokens *t, bool is_raw)
{
    char quote = *t->at;
    bool is_triple = t->at[1] == quote && t->at[2] == quote;
    int r;

    t->at += is_triple ? 3 : 1;
    ml_buf_clear(&t->decoded);
    r = ml_buf_puts(&t->decoded, ""); /* it may be empty */
    while (r == 0 && *t->at && !ends_here(t->at, quote, is_triple)) {
        if (*t->at == '\n' && !is_triple)
            return bad(t, "a string does not end in its line");
        if (*t->at == '\\' && t->at[1]) {
            r = is_raw ? keep_escape(t) : decode_escape(t);
            continue;
        }
        t->lines += *t->at == '\n';
        r = ml_buf_append(&t->decoded, t->at++, 1);
    }
    if (r < 0)
        return bad(t, "out of memory");
    if (!*t->at)
        return bad(t, "a string has no end");
    t->at += is_triple ? 3 : 1;
    t->text = (struct ml_slice){(const char *)t->decoded.data, t->decoded.len};
    return t->kind = t->why ? ML_PYTHON_OTHER_STRING : ML_PYTHON_STRING;
}

/* ---- Other tokens ------------------------------------------------------- */

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static enum ml_python_kind read_word(struct ml_python_tokens *t)
{
    bool is_number = isdigit((unsigned char)*t->at) || *t->at == '.';
    const char *start = t->at;
    bool is_raw_prefix;

    while (is_name(*t->at) || (is_number && *t->at == '.'))
        t->at++;
    t->text = (struct ml_slice){start, (size_t)(t->at - start)};
    is_raw_prefix = ml_slice_is(t->text, "r") || ml_slice_is(t->text, "R");
    if (*t->at != '"' && *t->at != '\'')
        return t->kind = is_number ? ML_PYTHON_NUMBER : ML_PYTHON_NAME;
    if (!is_raw_prefix && !ml_slice_is(t->text, "u") && !ml_slice_is(t->text, "U"))
        t->why = "only plain and raw strings can be read";
    return read_string(t, is_raw_prefix);
}

static enum ml_python_kind read_sign(struct ml_python_tokens *t)
{
    char c = *t->at;

    t->depth += c == '(' || c == '[' || c == '{';
    t->depth -= (c == ')' || c == ']' || c == '}') && t->depth > 0;
    t->text = (struct ml_slice){t->at++, 1};
    return t->kind = ML_PYTHON_SIGN;
}

enum ml_python_kind ml_python_next(struct ml_python_tokens *t)
{
    const char *start;

    while (skip_one(t))
        continue;
    start = t->at;
    t->why = NULL;
    t->line = t->lines;
    t->at_margin = t->kind == ML_PYTHON_NEWLINE && (t->lines == 1 || start[-1] == '\n');
    if (!*start)
        return t->kind = ML_PYTHON_END;
    if (*start == '\n') {
        t->at++;
        t->lines++;
        return t->kind = ML_PYTHON_NEWLINE;
    }
    if (*start == '"' || *start == '\'')
        return read_string(t, false);
    if (is_name(*start) || (*start == '.' && isdigit((unsigned char)start[1])))
        return read_word(t);
    return read_sign(t);
}

bool ml_python_is(const struct ml_python_tokens *t, const char *text)
{
    return (t->kind == ML_PYTHON_SIGN || t->kind == ML_PYTHON_NAME) && ml_slice_is(t->text, text);
}
