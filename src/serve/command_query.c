/* command_query.c: see command_query.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "command_query.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "compiler.h"
#include "shell_word.h"

#define VALUE_MAX_BYTES 4096
#define FILES_MAX 16
#define RANKS_MAX 1000 /* files of one job */

static const char *const verbs[] = {"blocks", "compare", "events",  "fragmentation", "layers",
                                    "leaks",  "ledger",  "oom",     "plot",          "ranks",
                                    "stats",  "steps",   "summary", "table",         "tree"};

/* None writes a file that the user names, or reads another. */
static const char *const options[] = {
    "address", "at",       "by",    "depth",      "device",   "each",    "from",    "kind",
    "limit",   "max-size", "min",   "min-change", "min-size", "of",      "process", "scope",
    "slices",  "sort",     "space", "to",         "top",      "warm-up", "width",   "within"};
static const char *const flags[] = {"ascending", "blocks", "never-freed", "salvage", "temporary"};

static bool is_among(const char *const *list, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i], name) == 0)
            return true;
    return false;
}

/* The parts as one text; NULL: no memory. */
static const char *joined(struct ml_command_query *query, const char *first, const char *second,
                          const char *third, const char *fourth)
{
    struct ml_buf text = {0};
    const char *ret = NULL;

    if (ml_buf_printf(&text, "%s%s%s%s", first, second, third, fourth) == 0)
        ret = ml_arena_dup(&query->arena, (const char *)text.data, text.len);
    ml_buf_release(&text);
    return ret;
}

static int push(struct ml_command_query *query, const char *argument)
{
    return argument ? ml_vec_push(&query->argv, argument) : -ENOMEM;
}

int ml_command_query_begin(struct ml_command_query *query, const char *verb, struct ml_error *err)
{
    *query = (struct ml_command_query){0};
    if (!is_among(verbs, ML_ARRAY_SIZE(verbs), verb))
        return ml_error_set(err, -ENOENT, "there is no view '%s'", verb);
    return push(query, joined(query, verb, "", "", "")) < 0 || push(query, "--json") < 0 ? -ENOMEM
                                                                                         : 0;
}

void ml_command_query_release(struct ml_command_query *query)
{
    ml_vec_release(&query->argv);
    ml_vec_release(&query->files);
    ml_arena_release(&query->arena);
}

static bool takes_job(const char *verb)
{
    return strcmp(verb, "ranks") == 0 || strcmp(verb, "plot") == 0;
}

static int add_file(struct ml_command_query *query, const char *value, const char *const *files,
                    size_t file_count, struct ml_error *err)
{
    char *end;
    unsigned long number = value ? strtoul(value, &end, 10) : 0;
    const char *path;

    if (!value || end == value || *end || number >= file_count || !files[number])
        return ml_error_set(err, -EINVAL, "there is no file of that number");
    if (query->files.len == (takes_job(query->argv.items[0]) ? RANKS_MAX : FILES_MAX))
        return ml_error_set(err, -EINVAL, "too many files");
    /* Not an option, whatever its name. */
    path = joined(query, files[number][0] == '-' ? "./" : "", files[number], "", "");
    return path ? ml_vec_push(&query->files, path) : -ENOMEM;
}

int ml_command_query_add(struct ml_command_query *query, const char *name, const char *value,
                         const char *const *files, size_t file_count, struct ml_error *err)
{
    if (strcmp(name, "file") == 0)
        return add_file(query, value, files, file_count, err);
    if (value && strlen(value) > VALUE_MAX_BYTES)
        return ml_error_set(err, -EINVAL, "the value of %s is too long", name);
    if (is_among(flags, ML_ARRAY_SIZE(flags), name))
        return push(query, joined(query, "--", name, "", ""));
    if (!value || !is_among(options, ML_ARRAY_SIZE(options), name))
        return ml_error_set(err, -EINVAL, "there is no setting of that name");
    return push(query, joined(query, "--", name, "=", value));
}

int ml_command_query_end(struct ml_command_query *query, struct ml_error *err)
{
    if (query->files.len == 0)
        return ml_error_set(err, -EINVAL, "no file was chosen");
    for (size_t i = 0; i < query->files.len; i++)
        if (push(query, query->files.items[i]) < 0)
            return -ENOMEM;
    return ml_vec_push(&query->argv, NULL);
}

/* The text goes into a header, where control characters would end it. */
static const char *printable(struct ml_command_query *query, const char *argument)
{
    char *text = ml_arena_dup(&query->arena, argument, strlen(argument));

    for (char *at = text; at && *at; at++)
        *at = (unsigned char)*at < ' ' || *at == 127 ? '?' : *at;
    return text;
}

static int put_argument(struct ml_command_query *query, const char *argument, struct ml_buf *out)
{
    const char *text = printable(query, argument);

    if (!text || ml_buf_puts(out, " ") < 0)
        return -ENOMEM;
    return ml_shell_quote(out, text);
}

const char *ml_command_query_text(struct ml_command_query *query)
{
    struct ml_buf text = {0};
    const char *ret = NULL;
    int r = ml_buf_puts(&text, "memledger");

    for (size_t i = 0; i < query->argv.len && query->argv.items[i] && r == 0; i++)
        if (strcmp(query->argv.items[i], "--json"))
            r = put_argument(query, query->argv.items[i], &text);
    if (r == 0)
        ret = ml_arena_dup(&query->arena, (const char *)text.data, text.len);
    ml_buf_release(&text);
    return ret;
}
