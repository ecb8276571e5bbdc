/* setme.c: see setme.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "setme.h"

#include <errno.h>
#include <string.h>

#include "python_tokens.h"

#define GIB (UINT64_C(1) << 30)
#define EXPECTED_GIB_MAX (1 << 20)

static const struct {
    const char *variable, *name; /* the second: of the bar in MXNet's picture */
} dictionaries[ML_SETME_DICTIONARIES] = {
    {"layer_kw_dict", "Layer"},
    {"data_struct_kw_dict", "Data Structure"},
};

struct reader {
    struct ml_python_tokens tokens;
    const char *file;
    struct ml_error *err;
    struct ml_dictionary found[ML_SETME_DICTIONARIES];
    bool has_expected;
    uint64_t expected_bytes;
};

static int wrong(const struct reader *r, const char *variable, const char *what)
{
    const struct ml_python_tokens *t = &r->tokens;

    return ml_error_set(r->err, -EINVAL, "%s, line %u: %s: %s", r->file, t->line, variable,
                        t->why ? t->why : what);
}

static int wrong_dictionary(const struct reader *r, const char *variable)
{
    return wrong(r, variable,
                 "memledger does not run the file and reads only {\"NAME\": [\"keyword\", ...]}");
}

/* ---- Dictionaries ------------------------------------------------------- */

static int begin_dictionary(struct ml_dictionary *d, const char *name)
{
    ml_dictionary_release(d);
    *d = (struct ml_dictionary){.others = "Others", .match = ML_MATCH_ALL};
    d->name = ml_arena_dup(&d->arena, name, strlen(name));
    return d->name ? 0 : -ENOMEM;
}

/* A string, or several in a row, which are one in Python. The token after it is read. */
static int read_text(struct reader *r, struct ml_buf *ret)
{
    int error = 0;

    ml_buf_clear(ret);
    while (error == 0 && r->tokens.kind == ML_PYTHON_STRING) {
        error = ml_buf_append(ret, r->tokens.text.text, r->tokens.text.len);
        (void)ml_python_next(&r->tokens);
    }
    return error < 0 ? error : ml_buf_puts(ret, "");
}

static int add_keyword(struct ml_dictionary *d, const struct ml_buf *text, uint32_t category)
{
    struct ml_keyword keyword = {.category = category};

    keyword.text = ml_arena_dup(&d->arena, text->data, text->len);
    return keyword.text ? ml_vec_push(&d->keywords, keyword) : -ENOMEM;
}

/* At the bracket; the token after the list is read. */
static int read_keywords(struct reader *r, struct ml_dictionary *d, const char *variable,
                         uint32_t category)
{
    const char *end = ml_python_is(&r->tokens, "[") ? "]" : ")";
    struct ml_buf text = {0};
    int error = 0;

    (void)ml_python_next(&r->tokens);
    while (error == 0 && !ml_python_is(&r->tokens, end)) {
        if (r->tokens.kind != ML_PYTHON_STRING) {
            error = wrong_dictionary(r, variable);
            break;
        }
        error = read_text(r, &text);
        if (error == 0)
            error = add_keyword(d, &text, category);
        if (error == 0 && ml_python_is(&r->tokens, ","))
            (void)ml_python_next(&r->tokens);
        else if (error == 0 && !ml_python_is(&r->tokens, end))
            error = wrong_dictionary(r, variable);
    }
    ml_buf_release(&text);
    if (error == 0)
        (void)ml_python_next(&r->tokens);
    return error;
}

static void drop_keywords(struct ml_dictionary *d, uint32_t category)
{
    size_t kept = 0;

    for (size_t i = 0; i < d->keywords.len; i++)
        if (d->keywords.items[i].category != category)
            d->keywords.items[kept++] = d->keywords.items[i];
    d->keywords.len = kept;
}

/* As in Python, a second list for the same name replaces the first. */
static int add_category(struct ml_dictionary *d, const struct ml_buf *name, uint32_t *ret)
{
    const char *kept = ml_arena_dup(&d->arena, name->data, name->len);

    for (*ret = 0; kept && *ret < d->categories.len; ++*ret)
        if (strcmp(d->categories.items[*ret], kept) == 0) {
            drop_keywords(d, *ret);
            return 0;
        }
    return kept ? ml_vec_push(&d->categories, kept) : -ENOMEM;
}

/* "NAME": [...]. A string without a colon, as the example in MXNet's template, is no entry. */
static int read_entry(struct reader *r, struct ml_dictionary *d, const char *variable)
{
    struct ml_buf name = {0};
    uint32_t category = 0;
    int error = read_text(r, &name);

    if (error == 0 && ml_python_is(&r->tokens, ":")) {
        (void)ml_python_next(&r->tokens);
        error = ml_python_is(&r->tokens, "[") || ml_python_is(&r->tokens, "(")
                    ? add_category(d, &name, &category)
                    : wrong_dictionary(r, variable);
        if (error == 0)
            error = read_keywords(r, d, variable, category);
    }
    ml_buf_release(&name);
    return error;
}

static int read_dictionary(struct reader *r, size_t which)
{
    const char *variable = dictionaries[which].variable;
    struct ml_dictionary *d = &r->found[which];
    int error = begin_dictionary(d, dictionaries[which].name);

    if (error == 0 && !ml_python_is(&r->tokens, "{"))
        error = wrong_dictionary(r, variable);
    if (error == 0)
        (void)ml_python_next(&r->tokens);
    while (error == 0 && !ml_python_is(&r->tokens, "}")) {
        error = r->tokens.kind == ML_PYTHON_STRING ? read_entry(r, d, variable)
                                                   : wrong_dictionary(r, variable);
        if (error == 0 && ml_python_is(&r->tokens, ","))
            (void)ml_python_next(&r->tokens);
        else if (error == 0 && !ml_python_is(&r->tokens, "}"))
            error = wrong_dictionary(r, variable);
    }
    if (error == 0)
        (void)ml_python_next(&r->tokens);
    return error;
}

/* ---- The expected sum --------------------------------------------------- */

static int read_expected(struct reader *r)
{
    double gib = 0;

    r->has_expected = !ml_python_is(&r->tokens, "None");
    if (r->has_expected && (r->tokens.kind != ML_PYTHON_NUMBER ||
                            !ml_slice_double(r->tokens.text, &gib) || gib > EXPECTED_GIB_MAX))
        return wrong(r, "expected_sum", "neither None nor a number of GiB; give --expected SIZE");
    r->expected_bytes = (uint64_t)(gib * (double)GIB);
    (void)ml_python_next(&r->tokens);
    return 0;
}

/* ---- The file ----------------------------------------------------------- */

/* The number of the dictionary; ML_SETME_DICTIONARIES: the expected sum; -1: another name. */
static int variable_of(struct ml_slice name)
{
    for (int i = 0; i < ML_SETME_DICTIONARIES; i++)
        if (ml_slice_is(name, dictionaries[i].variable))
            return i;
    return ml_slice_is(name, "expected_sum") ? ML_SETME_DICTIONARIES : -1;
}

static const char *variable_name(int which)
{
    return which == ML_SETME_DICTIONARIES ? "expected_sum" : dictionaries[which].variable;
}

static bool ends_statement(const struct ml_python_tokens *t)
{
    return t->kind == ML_PYTHON_NEWLINE || t->kind == ML_PYTHON_END || ml_python_is(t, ";");
}

/* After its name. */
static int read_assignment(struct reader *r, int which, bool at_margin)
{
    int error;

    (void)ml_python_next(&r->tokens);
    if (!at_margin || !ml_python_is(&r->tokens, "="))
        return wrong(r, variable_name(which),
                     "memledger does not run the file: assign it once, at the start of a line, as "
                     "a literal");
    (void)ml_python_next(&r->tokens);
    error = which == ML_SETME_DICTIONARIES ? read_expected(r) : read_dictionary(r, (size_t)which);
    if (error == 0 && !ends_statement(&r->tokens))
        error = wrong(r, variable_name(which), "code follows the literal, and is not run");
    return error;
}

static int read_statement(struct reader *r)
{
    bool is_first = true;

    while (r->tokens.kind != ML_PYTHON_NEWLINE && r->tokens.kind != ML_PYTHON_END) {
        int which = r->tokens.kind == ML_PYTHON_NAME ? variable_of(r->tokens.text) : -1;

        if (r->tokens.kind == ML_PYTHON_BAD)
            return wrong(r, "this line", "");
        if (is_first && which >= 0)
            return read_assignment(r, which, r->tokens.at_margin);
        is_first =
            !r->tokens.depth && (ml_python_is(&r->tokens, ";") || ml_python_is(&r->tokens, ":"));
        (void)ml_python_next(&r->tokens);
    }
    return 0;
}

static int read_file(struct reader *r)
{
    int error = 0;

    while (error == 0 && ml_python_next(&r->tokens) != ML_PYTHON_END)
        error = read_statement(r);
    return error;
}

static size_t hand_over(struct reader *r, struct ml_dictionary *ret)
{
    size_t count = 0;

    for (size_t i = 0; i < ML_SETME_DICTIONARIES; i++) {
        r->found[i].has_expected = r->has_expected;
        r->found[i].expected_bytes = r->expected_bytes;
        if (r->found[i].keywords.len > 0)
            ret[count++] = r->found[i];
        else
            ml_dictionary_release(&r->found[i]);
    }
    return count;
}

int ml_setme_parse(const char *file, const char *text,
                   struct ml_dictionary ret[ML_SETME_DICTIONARIES], size_t *ret_count,
                   struct ml_error *err)
{
    struct reader r = {.file = file, .err = err};
    int error;

    ml_python_tokens_init(&r.tokens, text);
    error = read_file(&r);
    ml_python_tokens_release(&r.tokens);
    *ret_count = hand_over(&r, ret);
    if (error == 0 && *ret_count == 0)
        error = ml_error_set(err, -EINVAL, "%s: neither dictionary has keywords", file);
    return error;
}

static bool assigns(struct ml_slice line, const char *variable)
{
    size_t len = strlen(variable);

    if (!ml_slice_begins(line, variable) || line.len == len)
        return false;
    return strchr(" \t=\\", line.text[len]) != NULL;
}

bool ml_setme_recognise(const char *text)
{
    struct ml_slice rest = {text, strlen(text)}, line;

    while (ml_slice_next(&rest, '\n', &line))
        for (size_t i = 0; i < ML_SETME_DICTIONARIES; i++)
            if (assigns(line, dictionaries[i].variable))
                return true;
    return false;
}
