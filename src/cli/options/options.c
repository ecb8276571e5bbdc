/* options.c: see options.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nearest.h"
#include "option_value.h"
#include "say.h"

/* -h and --help, which every command has; recognised by its address. */
static const struct ml_option help_option = {.name = "help", .letter = 'h', .type = ML_OPT_FLAG};

struct parser {
    const struct ml_verb *verb;
    void *opts;
    int argc;
    char **argv;
    int at; /* the argument being read */
    bool help;
    struct ml_error *err;
};

static bool takes_value(const struct ml_option *option)
{
    return option->type != ML_OPT_FLAG && option->type != ML_OPT_OPTIONAL_CHOICE;
}

static int unknown_option(struct parser *p, const char *shown, const char *name)
{
    struct ml_nearest nearest = {.typed = name};

    if (p->verb->elsewhere.option && !strcmp(name, p->verb->elsewhere.option))
        return ml_error_set(p->err, -EINVAL, "unknown option '%s'; %s", shown,
                            p->verb->elsewhere.words);
    for (size_t i = 0; i < p->verb->option_count; i++)
        ml_nearest_offer(&nearest, p->verb->options[i].name);
    ml_nearest_offer(&nearest, help_option.name);
    if (nearest.word)
        return ml_error_set(p->err, -EINVAL, "unknown option '%s'; did you mean '--%s'?", shown,
                            nearest.word);
    return ml_error_set(p->err, -EINVAL, "unknown option '%s'", shown);
}

/* The option of that name, or the only one with that prefix. */
static int find_long(struct parser *p, const char *name, size_t len, const struct ml_option **ret)
{
    const struct ml_option *found = NULL;
    char typed[64];

    snprintf(typed, sizeof(typed), "%.*s", (int)(len < 60 ? len : 60), name);
    for (size_t i = 0; len > 0 && i <= p->verb->option_count; i++) {
        const struct ml_option *o = i < p->verb->option_count ? &p->verb->options[i] : &help_option;

        if (strncmp(o->name, name, len) != 0)
            continue;
        if (o->name[len] == '\0') {
            *ret = o;
            return 0;
        }
        if (found)
            return ml_error_set(p->err, -EINVAL, "option '--%s' is ambiguous: --%s or --%s", typed,
                                found->name, o->name);
        found = o;
    }
    if (!found) {
        char shown[72];

        snprintf(shown, sizeof(shown), "--%s", typed);
        return unknown_option(p, shown, typed);
    }
    *ret = found;
    return 0;
}

static const struct ml_option *find_letter(const struct ml_verb *verb, char letter)
{
    for (size_t i = 0; i < verb->option_count; i++)
        if (verb->options[i].letter == letter)
            return &verb->options[i];
    return letter == help_option.letter ? &help_option : NULL;
}

static int apply(struct parser *p, const struct ml_option *option, const char *shown,
                 const char *value)
{
    if (option == &help_option) {
        p->help = true;
        return 0;
    }
    if (!value && takes_value(option) && p->at + 1 < p->argc)
        value = p->argv[++p->at];
    return ml_option_set(option, p->opts, shown, value, p->err);
}

static int parse_long(struct parser *p, const char *arg)
{
    const char *name = arg + 2, *equals = strchr(name, '=');
    size_t len = equals ? (size_t)(equals - name) : strlen(name);
    const struct ml_option *option = NULL;
    char shown[72];
    int r = find_long(p, name, len, &option);

    if (r < 0 || !option)
        return r;
    snprintf(shown, sizeof(shown), "--%s", option->name);
    if (equals && option->type == ML_OPT_FLAG)
        return ml_error_set(p->err, -EINVAL, "option '%s' takes no value", shown);
    return apply(p, option, shown, equals ? equals + 1 : NULL);
}

/* -abc: flags a and b, then c, or flag a and option b with the value "c". */
static int parse_letters(struct parser *p, const char *arg)
{
    for (const char *c = arg + 1; *c; c++) {
        const struct ml_option *option = find_letter(p->verb, *c);
        char shown[3] = {'-', *c, '\0'};
        const char *rest = c[1] ? c + 1 : NULL;
        int r;

        if (!option)
            return unknown_option(p, c == arg + 1 ? arg : shown, arg + 1);
        if (option->type == ML_OPT_FLAG)
            rest = NULL;
        r = apply(p, option, shown, rest);
        if (r < 0 || option->type != ML_OPT_FLAG)
            return r;
    }
    return 0;
}

static int read_environment(struct parser *p)
{
    for (size_t i = 0; i < p->verb->option_count; i++) {
        const struct ml_option *option = &p->verb->options[i];
        char name[96];
        const char *value;
        int r;

        if (option->no_env)
            continue;
        ml_option_env_name(option, name, sizeof(name));
        value = getenv(name);
        if (!value || !*value)
            continue;
        r = ml_option_set(option, p->opts, name, value, p->err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* Reads the options; collects the operands and puts them at the end. */
static int read_arguments(struct parser *p, char **operands, int *ret_first)
{
    int operand_count = 0, kept = 1, r = 0;

    for (p->at = 1; p->at < p->argc && !p->help; p->at++) {
        char *arg = p->argv[p->at];
        int from = p->at;

        if (strcmp(arg, "--") == 0) {
            p->argv[kept++] = arg;
            p->at++;
            break;
        }
        if (arg[0] != '-' || arg[1] == '\0') {
            if (p->verb->options_first)
                break;
            operands[operand_count++] = arg;
            continue;
        }
        r = arg[1] == '-' ? parse_long(p, arg) : parse_letters(p, arg);
        if (r < 0)
            return r;
        while (from <= p->at && from < p->argc)
            p->argv[kept++] = p->argv[from++];
    }
    while (p->at < p->argc)
        operands[operand_count++] = p->argv[p->at++];
    memcpy(p->argv + kept, operands, (size_t)operand_count * sizeof(*operands));
    *ret_first = kept;
    return p->help ? ML_OPTIONS_HELP : 0;
}

int ml_options_parse(const struct ml_verb *verb, void *opts, int argc, char **argv,
                     int *ret_first_operand, struct ml_error *err)
{
    struct parser p = {.verb = verb, .opts = opts, .argc = argc, .argv = argv, .err = err};
    char **operands = calloc((size_t)argc + 1, sizeof(*operands));
    int r, parsed;

    if (!operands)
        return ml_error_set(err, -ENOMEM, "out of memory");
    r = read_environment(&p);
    if (r < 0)
        p.err = NULL; /* the reason stays; help is still printed */
    parsed = read_arguments(&p, operands, ret_first_operand);
    free(operands);
    return r < 0 && parsed != ML_OPTIONS_HELP ? r : parsed;
}

void ml_option_env_name(const struct ml_option *option, char *ret, size_t len)
{
    snprintf(ret, len, "MEMLEDGER_%s", option->name);
    for (char *c = ret; *c; c++)
        *c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
}

int ml_verb_usage_error(const struct ml_verb *verb, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    ml_vsay(fmt, args);
    va_end(args);
    fprintf(stderr, "see memledger %s --help\n", verb->name);
    return ML_EXIT_USAGE;
}

int ml_verb_begin(const struct ml_verb *verb, void *opts, int argc, char **argv,
                  int *ret_first_operand)
{
    struct ml_error err = {0};
    struct ml_buf help;
    int r = ml_options_parse(verb, opts, argc, argv, ret_first_operand, &err);

    if (r == 0)
        return -1;
    if (r < 0)
        return ml_verb_usage_error(verb, "%s", err.text);
    ml_buf_init(&help);
    r = ml_verb_help_text(verb, &help);
    if (r == 0)
        fwrite(help.data, 1, help.len, stdout);
    ml_buf_release(&help);
    return r < 0 ? ML_EXIT_FAILURE : ML_EXIT_OK;
}
