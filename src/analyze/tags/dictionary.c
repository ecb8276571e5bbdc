/* dictionary.c: see dictionary.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "dictionary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "slice.h"

#define OTHERS "Others"
#define UNKNOWN "unknown:"   /* a tag of tags.h */
#define UNTAGGED "untagged:" /* its name in TBD */

struct parser {
    struct ml_dictionary *ret;
    struct ml_error *err;
    unsigned line;
    bool in_category;
    uint32_t category;
};

static const char *keep(struct parser *p, struct ml_slice piece)
{
    return ml_arena_dup(&p->ret->arena, piece.text, piece.len);
}

static int wrong(const struct parser *p, const char *what)
{
    return ml_error_set(p->err, -EINVAL, "%s, line %u: %s", p->ret->name, p->line, what);
}

/* ---- Lines -------------------------------------------------------------- */

static int parse_category(struct parser *p, struct ml_slice line)
{
    struct ml_slice name = ml_slice_trim((struct ml_slice){line.text + 1, line.len - 2});

    if (name.len == 0)
        return wrong(p, "a category needs a name: [Parameters]");
    p->in_category = true;
    for (p->category = 0; p->category < p->ret->categories.len; p->category++)
        if (ml_slice_is(name, p->ret->categories.items[p->category]))
            return 0;
    return ml_vec_push(&p->ret->categories, keep(p, name)) < 0 ||
                   !p->ret->categories.items[p->category]
               ? -ENOMEM
               : 0;
}

static int parse_setting(struct parser *p, struct ml_slice line)
{
    struct ml_slice rest = line, key, value;

    if (!memchr(line.text, '=', line.len))
        return wrong(p, "a keyword before the first [category]");
    ml_slice_next(&rest, '=', &key);
    value = ml_slice_trim(rest);
    if (ml_slice_is(key, "others") && value.len > 0) {
        p->ret->others = keep(p, value);
        return p->ret->others ? 0 : -ENOMEM;
    }
    if (ml_slice_is(key, "match") && (ml_slice_is(value, "first") || ml_slice_is(value, "all"))) {
        p->ret->match = ml_slice_is(value, "all") ? ML_MATCH_ALL : ML_MATCH_FIRST;
        return 0;
    }
    if (ml_slice_is(key, "tags") && ml_slice_is(value, "bracketed")) {
        p->ret->bracketed = true;
        return 0;
    }
    if (ml_slice_is(key, "tags") && ml_slice_is(value, "classes")) {
        p->ret->classes = true;
        return 0;
    }
    return wrong(p, "settings are match = first or all, others = NAME, tags = bracketed or "
                    "classes");
}

static int compile(struct parser *p, struct ml_keyword *keyword, bool any_case)
{
    char reason[128];
    int r = regcomp(&keyword->regex, keyword->text,
                    REG_EXTENDED | REG_NOSUB | (any_case ? REG_ICASE : 0));

    if (r == 0)
        return 0;
    regerror(r, &keyword->regex, reason, sizeof(reason));
    return r == REG_ESPACE ? -ENOMEM : wrong(p, reason);
}

static int parse_keyword(struct parser *p, struct ml_slice line)
{
    bool any_case = line.len > 3 && line.text[0] == '/' && line.text[line.len - 2] == '/' &&
                    line.text[line.len - 1] == 'i';
    struct ml_keyword keyword = {.category = p->category};
    int r = 0;

    line.len -= any_case;
    keyword.is_regex = line.len > 2 && line.text[0] == '/' && line.text[line.len - 1] == '/';
    if (keyword.is_regex || (line.len > 2 && line.text[0] == '"' && line.text[line.len - 1] == '"'))
        line = (struct ml_slice){line.text + 1, line.len - 2};
    keyword.text = keep(p, line);
    if (!keyword.text)
        return -ENOMEM;
    if (keyword.is_regex)
        r = compile(p, &keyword, any_case);
    if (r == 0)
        r = ml_vec_push(&p->ret->keywords, keyword);
    else
        return r;
    if (r < 0 && keyword.is_regex)
        regfree(&keyword.regex);
    return r;
}

static int parse_line(struct parser *p, struct ml_slice line)
{
    if (line.len == 0 || line.text[0] == '#')
        return 0;
    if (line.text[0] == '[' && line.text[line.len - 1] == ']')
        return parse_category(p, line);
    return p->in_category ? parse_keyword(p, line) : parse_setting(p, line);
}

int ml_dictionary_parse(const char *name, const char *text, struct ml_dictionary *ret,
                        struct ml_error *err)
{
    struct parser p = {.ret = ret, .err = err};
    struct ml_slice rest = {text, strlen(text)}, line;
    int r = 0;

    *ret = (struct ml_dictionary){.others = OTHERS};
    ret->name = ml_arena_dup(&ret->arena, name, strlen(name));
    if (!ret->name)
        return -ENOMEM;
    while (r == 0 && ml_slice_next(&rest, '\n', &line)) {
        p.line++;
        if (line.len > 0 && line.text[line.len - 1] == '\r')
            line.len--;
        r = parse_line(&p, ml_slice_trim(line));
    }
    if (r == 0 && ret->keywords.len == 0)
        r = ml_error_set(err, -EINVAL, "%s: no keywords; write them below a [category]", name);
    return r;
}

int ml_dictionary_builtin(const char *name, struct ml_dictionary *ret, struct ml_error *err)
{
    const char *text = ml_dictionary_text(name);

    *ret = (struct ml_dictionary){0};
    return text ? ml_dictionary_parse(name, text, ret, err) : -ENOENT;
}

void ml_dictionary_release(struct ml_dictionary *dictionary)
{
    for (size_t i = 0; i < dictionary->keywords.len; i++)
        if (dictionary->keywords.items[i].is_regex)
            regfree(&dictionary->keywords.items[i].regex);
    ml_vec_release(&dictionary->keywords);
    ml_vec_release(&dictionary->categories);
    ml_arena_release(&dictionary->arena);
    *dictionary = (struct ml_dictionary){0};
}

/* ---- Matching ----------------------------------------------------------- */

int ml_tbd_word(const char *tag, struct ml_buf *out)
{
    bool is_unknown = strncmp(tag, UNKNOWN, strlen(UNKNOWN)) == 0;
    size_t from = out->len;
    int r = is_unknown ? ml_buf_printf(out, "(" UNTAGGED "%s).", tag + strlen(UNKNOWN))
                       : ml_buf_printf(out, "(%s).", tag);

    for (size_t i = from; r == 0 && i < out->len; i++)
        if (out->data[i] == ' ' || out->data[i] == '\n')
            out->data[i] = '_';
    return r;
}

int ml_dictionary_subject(const struct ml_dictionary *dictionary, const char *tag,
                          const char *class_name, struct ml_buf *ret)
{
    ml_buf_clear(ret);
    if (dictionary->classes && class_name)
        return ml_buf_printf(ret, "%s %s", tag, class_name);
    return dictionary->bracketed ? ml_tbd_word(tag, ret) : ml_buf_puts(ret, tag);
}

int64_t ml_dictionary_match(const struct ml_dictionary *dictionary, const char *subject,
                            size_t from)
{
    for (size_t i = from; i < dictionary->keywords.len; i++) {
        const struct ml_keyword *k = &dictionary->keywords.items[i];

        if (k->is_regex ? regexec(&k->regex, subject, 0, NULL, 0) == 0
                        : strstr(subject, k->text) != NULL)
            return (int64_t)i;
    }
    return -1;
}
