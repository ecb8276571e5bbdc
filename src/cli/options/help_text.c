/* help_text.c: the --help of a command, written from its option table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "options.h"

#define HELP_COLUMN 26 /* where the explanations begin */
#define HELP_WIDTH 80

/* "-o, --output=FILE", "    --heap[=KIND]", "-q, --quiet". */
static void option_head(const struct ml_option *option, char *ret, size_t len)
{
    char choices[160] = "";
    const char *value = option->value_name;
    int n = option->letter ? snprintf(ret, len, "-%c, --%s", option->letter, option->name)
                           : snprintf(ret, len, "    --%s", option->name);

    if (!value && option->choices)
        for (int i = 0; option->choices[i]; i++)
            snprintf(choices + strlen(choices), sizeof(choices) - strlen(choices), "%s%s",
                     i ? "|" : "", option->choices[i]);
    if (!value)
        value = choices;
    if (option->type == ML_OPT_FLAG || n < 0 || (size_t)n >= len)
        return;
    snprintf(ret + n, len - (size_t)n, option->type == ML_OPT_OPTIONAL_CHOICE ? "[=%s]" : "=%s",
             value);
}

/* Appends `text`, whose first line begins at column `at`, broken between words. */
static int wrap(struct ml_buf *out, const char *text, size_t at, size_t indent)
{
    int r = 0;

    while (*text && r == 0) {
        size_t len = strcspn(text, " ");

        if (at > indent && at + 1 + len > HELP_WIDTH) {
            r = ml_buf_puts(out, "\n");
            if (r == 0)
                r = ml_buf_fill(out, ' ', indent);
            at = indent;
        } else if (at > indent) {
            r = ml_buf_puts(out, " ");
            at++;
        }
        if (r == 0)
            r = ml_buf_append(out, text, len);
        at += len;
        text += len + (text[len] == ' ');
    }
    return r < 0 ? r : ml_buf_puts(out, "\n");
}

static int option_line(struct ml_buf *out, const struct ml_option *option)
{
    char head[256];
    size_t len;
    int r;

    option_head(option, head, sizeof(head));
    len = strlen(head) + 2;
    r = ml_buf_printf(out, "  %s", head);
    if (r == 0 && len + 2 > HELP_COLUMN) {
        r = ml_buf_puts(out, "\n");
        len = 0;
    }
    if (r == 0)
        r = ml_buf_fill(out, ' ', HELP_COLUMN - len);
    return r < 0 ? r : wrap(out, option->help, HELP_COLUMN, HELP_COLUMN);
}

/* How options can be set otherwise, and where more is said. */
static int closing_words(struct ml_buf *out, const struct ml_verb *verb,
                         const struct ml_option *with_env)
{
    char name[96], text[512] = "";

    if (with_env) {
        ml_option_env_name(with_env, name, sizeof(name));
        snprintf(text, sizeof(text), "Options are also read from the environment: %s sets --%s. ",
                 name, with_env->name);
    }
    snprintf(text + strlen(text), sizeof(text) - strlen(text),
             "For details and examples, see memledger help %s.", verb->name);
    return ml_buf_puts(out, "\n") < 0 ? -ENOMEM : wrap(out, text, 0, 0);
}

int ml_verb_help_text(const struct ml_verb *verb, struct ml_buf *out)
{
    static const struct ml_option help = {
        .name = "help", .letter = 'h', .type = ML_OPT_FLAG, .help = "show this text"};
    const struct ml_option *with_env = NULL;
    int r = ml_buf_printf(out, "Usage: memledger %s %s\n\n%c%s.\n\nOptions:\n", verb->name,
                          verb->usage, toupper((unsigned char)verb->summary[0]), verb->summary + 1);

    for (size_t i = 0; r == 0 && i < verb->option_count; i++) {
        r = option_line(out, &verb->options[i]);
        if (!verb->options[i].no_env && !with_env)
            with_env = &verb->options[i];
    }
    if (r == 0)
        r = option_line(out, &help);
    if (r == 0 && verb->details)
        r = ml_buf_printf(out, "\n%s\n", verb->details);
    if (r == 0 && verb->more_details)
        r = ml_buf_puts(out, "\n");
    if (r == 0 && verb->more_details)
        r = verb->more_details(out);
    return r < 0 ? r : closing_words(out, verb, with_env);
}
