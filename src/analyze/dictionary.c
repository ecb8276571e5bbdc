/* dictionary.c: see dictionary.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "dictionary.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define OTHERS "Others"

struct parser {
    struct ml_dictionary *ret;
    struct ml_error *err;
    unsigned line;
    bool in_category;
    uint32_t category;
};

/* A part of a line. */
struct piece {
    const char *at;
    size_t len;
};

static struct piece trim(const char *at, size_t len)
{
    while (len > 0 && isspace((unsigned char)*at)) {
        at++;
        len--;
    }
    while (len > 0 && isspace((unsigned char)at[len - 1]))
        len--;
    return (struct piece){at, len};
}

static bool is_word(struct piece piece, const char *word)
{
    return piece.len == strlen(word) && memcmp(piece.at, word, piece.len) == 0;
}

static const char *keep(struct parser *p, struct piece piece)
{
    return ml_arena_dup(&p->ret->arena, piece.at, piece.len);
}

static int wrong(const struct parser *p, const char *what)
{
    return ml_error_set(p->err, -EINVAL, "%s, line %u: %s", p->ret->name, p->line, what);
}

/* ---- Lines -------------------------------------------------------------- */

static int parse_category(struct parser *p, struct piece line)
{
    struct piece name = trim(line.at + 1, line.len - 2);

    if (name.len == 0)
        return wrong(p, "a category needs a name: [Parameters]");
    p->in_category = true;
    for (p->category = 0; p->category < p->ret->categories.len; p->category++)
        if (is_word(name, p->ret->categories.items[p->category]))
            return 0;
    return ml_vec_push(&p->ret->categories, keep(p, name)) < 0 ||
                   !p->ret->categories.items[p->category]
               ? -ENOMEM
               : 0;
}

static int parse_setting(struct parser *p, struct piece line)
{
    const char *sign = memchr(line.at, '=', line.len);
    struct piece key, value;

    if (!sign)
        return wrong(p, "a keyword before the first [category]");
    key = trim(line.at, (size_t)(sign - line.at));
    value = trim(sign + 1, line.len - (size_t)(sign + 1 - line.at));
    if (is_word(key, "others") && value.len > 0) {
        p->ret->others = keep(p, value);
        return p->ret->others ? 0 : -ENOMEM;
    }
    if (is_word(key, "match") && (is_word(value, "first") || is_word(value, "all"))) {
        p->ret->match = is_word(value, "all") ? ML_MATCH_ALL : ML_MATCH_FIRST;
        return 0;
    }
    if (is_word(key, "tags") && is_word(value, "bracketed")) {
        p->ret->bracketed = true;
        return 0;
    }
    return wrong(p, "settings are match = first or all, others = NAME, tags = bracketed");
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

static int parse_keyword(struct parser *p, struct piece line)
{
    bool any_case = line.len > 3 && line.at[0] == '/' && line.at[line.len - 2] == '/' &&
                    line.at[line.len - 1] == 'i';
    struct ml_keyword keyword = {.category = p->category};
    int r = 0;

    line.len -= any_case;
    keyword.is_regex = line.len > 2 && line.at[0] == '/' && line.at[line.len - 1] == '/';
    if (keyword.is_regex || (line.len > 2 && line.at[0] == '"' && line.at[line.len - 1] == '"'))
        line = (struct piece){line.at + 1, line.len - 2};
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

static int parse_line(struct parser *p, struct piece line)
{
    if (line.len == 0 || line.at[0] == '#')
        return 0;
    if (line.at[0] == '[' && line.at[line.len - 1] == ']')
        return parse_category(p, line);
    return p->in_category ? parse_keyword(p, line) : parse_setting(p, line);
}

int ml_dictionary_parse(const char *name, const char *text, struct ml_dictionary *ret,
                        struct ml_error *err)
{
    struct parser p = {.ret = ret, .err = err};
    int r = 0;

    *ret = (struct ml_dictionary){.others = OTHERS};
    ret->name = ml_arena_dup(&ret->arena, name, strlen(name));
    if (!ret->name)
        return -ENOMEM;
    while (r == 0 && *text) {
        size_t len = strcspn(text, "\n");

        p.line++;
        r = parse_line(&p, trim(text, len));
        text += len + (text[len] == '\n');
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

int ml_dictionary_subject(const struct ml_dictionary *dictionary, const char *tag,
                          struct ml_buf *ret)
{
    int r;

    ml_buf_clear(ret);
    if (!dictionary->bracketed)
        return ml_buf_puts(ret, tag);
    r = ml_buf_printf(ret, "(%s).", tag);
    for (size_t i = 0; r == 0 && i < ret->len; i++)
        if (ret->data[i] == ' ')
            ret->data[i] = '_';
    return r;
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
