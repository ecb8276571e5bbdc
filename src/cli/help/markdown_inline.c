/* markdown_inline.c: see markdown_inline.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "markdown_inline.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define PAGE_SUFFIX ".md"

/* A run of bytes inside the page. */
struct span {
    const char *at;
    size_t len;
};

/* "[text](target)", and its length in bytes. */
struct link {
    struct span text, target;
    size_t len;
};

/* The bytes up to the `close` that belongs to the `open` before `text`.
 * @return false when there is none */
static bool enclosed(struct span text, char open, char close, struct span *ret)
{
    size_t depth = 1;

    for (size_t i = 0; i < text.len; i++) {
        depth += text.at[i] == open;
        depth -= text.at[i] == close;
        if (depth == 0) {
            *ret = (struct span){text.at, i};
            return true;
        }
    }
    return false;
}

/* @text  begins with '[' */
static bool parse_link(struct span text, struct link *ret)
{
    struct span rest = {text.at + 1, text.len - 1};

    if (!enclosed(rest, '[', ']', &ret->text))
        return false;
    rest = (struct span){ret->text.at + ret->text.len + 1,
                         text.len - ret->text.len - 2}; /* both brackets */
    if (rest.len < 2 || rest.at[0] != '(')
        return false;
    rest = (struct span){rest.at + 1, rest.len - 1};
    if (!enclosed(rest, '(', ')', &ret->target))
        return false;
    ret->len = ret->text.len + ret->target.len + 4;
    return true;
}

/* "sampling" of "../sampling.md#rates"; empty when the target is not a page. */
static struct span topic_of(struct span target)
{
    const char *anchor = memchr(target.at, '#', target.len), *slash;
    size_t len = anchor ? (size_t)(anchor - target.at) : target.len;

    if (len <= strlen(PAGE_SUFFIX) ||
        memcmp(target.at + len - strlen(PAGE_SUFFIX), PAGE_SUFFIX, strlen(PAGE_SUFFIX)) != 0)
        return (struct span){NULL, 0};
    len -= strlen(PAGE_SUFFIX);
    slash = memrchr(target.at, '/', len);
    if (slash)
        target = (struct span){slash + 1, len - (size_t)(slash + 1 - target.at)};
    else
        target.len = len;
    /* README and CHANGELOG are files of the project, not pages. */
    return target.len && islower((unsigned char)target.at[0]) ? target : (struct span){NULL, 0};
}

static bool is_web(struct span target)
{
    return target.len > 4 && memcmp(target.at, "http", 4) == 0;
}

static int put_topic(struct ml_buf *out, size_t text_start, struct span topic)
{
    const char *text = (const char *)out->data + text_start;
    size_t len = out->len - text_start;

    if (len >= topic.len && memcmp(text, topic.at, topic.len) == 0 &&
        (len == topic.len || strcmp(text + topic.len, PAGE_SUFFIX) == 0)) {
        out->len = text_start;
        return ml_buf_printf(out, "memledger help %.*s", (int)topic.len, topic.at);
    }
    if (len > topic.len && strncmp(text, "memledger ", 10) == 0)
        return 0; /* names the command already */
    return ml_buf_printf(out, " (memledger help %.*s)", (int)topic.len, topic.at);
}

static int put_link(const struct link *link, bool picture, struct ml_buf *out)
{
    struct span topic = topic_of(link->target);
    size_t start;
    int r = picture ? ml_buf_puts(out, "[picture: ") : 0;

    start = out->len;
    if (r == 0)
        r = ml_markdown_inline(link->text.at, link->text.len, out);
    if (r < 0 || picture)
        return r < 0 ? r : ml_buf_puts(out, "]");
    if (topic.len)
        return put_topic(out, start, topic);
    if (is_web(link->target))
        return ml_buf_printf(out, " (%.*s)", (int)link->target.len, link->target.at);
    return 0;
}

/* Code between backticks, as it is. @return the bytes taken; 0: no code */
static size_t code_len(struct span text, struct span *ret)
{
    const char *end = memchr(text.at + 1, '`', text.len - 1);

    if (!end)
        return 0;
    *ret = (struct span){text.at + 1, (size_t)(end - text.at) - 1};
    return ret->len + 2;
}

/* Whether a '*' marks emphasis: text on one side of it only, as in "*this*". */
static bool is_emphasis(const char *line, size_t at, size_t len)
{
    bool before = at > 0 && (isalnum((unsigned char)line[at - 1]) || line[at - 1] == '.');
    bool after = at + 1 < len && isalnum((unsigned char)line[at + 1]);

    if (at > 0 && line[at - 1] == '*')
        return true;
    if (at + 1 < len && line[at + 1] == '*')
        return true;
    return before != after || (at + 1 < len && line[at + 1] == '`') ||
           (at > 0 && line[at - 1] == '`');
}

int ml_markdown_inline(const char *text, size_t len, struct ml_buf *out)
{
    size_t i = 0;
    int r = 0;

    while (i < len && r == 0) {
        struct span rest = {text + i, len - i}, code;
        bool picture = rest.len > 1 && rest.at[0] == '!' && rest.at[1] == '[';
        struct span bracket = {rest.at + picture, rest.len - picture};
        struct link link;
        size_t taken;

        if (rest.at[0] == '`' && (taken = code_len(rest, &code)) > 0) {
            r = ml_buf_append(out, code.at, code.len);
            i += taken;
        } else if (bracket.at[0] == '[' && parse_link(bracket, &link)) {
            r = put_link(&link, picture, out);
            i += link.len + picture;
        } else if (rest.at[0] == '\\' && rest.len > 1 && ispunct((unsigned char)rest.at[1])) {
            r = ml_buf_append(out, rest.at + 1, 1);
            i += 2;
        } else {
            if (rest.at[0] != '*' || !is_emphasis(text, i, len))
                r = ml_buf_append(out, rest.at, 1);
            i++;
        }
    }
    return r;
}
