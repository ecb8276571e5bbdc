/* cmd_completion.c: `memledger completion bash`: a completion script, written
 * from the tables that drive the parser.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "help_pages.h"
#include "verb_list.h"

static void print_options(const struct ml_verb *verb)
{
    printf("        %s) words=\"", verb->name);
    for (size_t i = 0; i < verb->option_count; i++) {
        const struct ml_option *o = &verb->options[i];
        bool value = o->type != ML_OPT_FLAG && o->type != ML_OPT_OPTIONAL_CHOICE;

        if (o->letter)
            printf("-%c ", o->letter);
        printf("--%s%s ", o->name, value ? "=" : "");
        for (int c = 1; o->type == ML_OPT_OPTIONAL_CHOICE && o->choices[c]; c++)
            printf("--%s=%.*s%s ", o->name, (int)ml_choice_word(o->choices[c]), o->choices[c],
                   o->choices[c][ml_choice_word(o->choices[c])] == ':' ? ":" : "");
    }
    puts("-h --help\" ;;");
}

/* The i-th value of the option, NULL: no more. */
static const char *value_of(const struct ml_option *o, size_t i)
{
    if (o->word)
        return o->word(i);
    return o->choices ? o->choices[i] : NULL;
}

static void print_values(const struct ml_verb *verb)
{
    for (size_t i = 0; i < verb->option_count; i++) {
        const struct ml_option *o = &verb->options[i];

        if (!value_of(o, 0))
            continue;
        printf("        %s:--%s", verb->name, o->name);
        if (o->letter)
            printf("|%s:-%c", verb->name, o->letter);
        printf(") values=\"");
        for (size_t k = 0; value_of(o, k); k++)
            printf("%s%s", k ? " " : "", value_of(o, k));
        printf("\"%s ;;\n", o->or_file ? " files=1" : "");
    }
}

static void print_operands(const struct ml_verb *verb)
{
    static const char *const actions[] = {
        [ML_OPERANDS_NONE] = "words=",
        [ML_OPERANDS_TRACES] = "words= files=1",
        [ML_OPERANDS_PROGRAM] = "words=$(compgen -c -- \"$cur\") files=1",
        [ML_OPERANDS_TOPIC] = "words=\"$verbs $topics\"",
    };

    printf("        %s) %s ;;\n", verb->name, actions[verb->operands]);
}

static void print_topics(void)
{
    struct ml_help_topics topics;

    ml_help_topics(&topics); /* after a failure, those found so far */
    printf("    local topics=\"topics");
    for (size_t i = 0; i < topics.list.len; i++)
        printf(" %s", topics.list.items[i].name);
    puts("\"");
    ml_help_topics_release(&topics);
}

static void for_each_verb(void (*print)(const struct ml_verb *))
{
    for (size_t i = 0; ml_verbs[i]; i++)
        print(ml_verbs[i]);
}

static void print_bash(void)
{
    puts("# bash completion for memledger; load it with: source <(memledger completion bash)\n"
         "_memledger()\n"
         "{\n"
         "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
         "    local verb=${COMP_WORDS[1]} words= values= files=\n"
         "    COMPREPLY=()");
    printf("    local verbs=\"");
    for (size_t i = 0; ml_verbs[i]; i++)
        printf("%s%s", i ? " " : "", ml_verbs[i]->name);
    puts("\"");
    print_topics();
    puts("    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
         "        COMPREPLY=($(compgen -W \"$verbs --help --version\" -- \"$cur\"))\n"
         "        return\n"
         "    fi\n"
         "    # bash splits --unit=MiB at the sign\n"
         "    if [ \"$cur\" = = ]; then cur= ; elif [ \"$prev\" = = ]; then\n"
         "        prev=${COMP_WORDS[COMP_CWORD-2]}\n"
         "    fi\n"
         "    case \"$verb:$prev\" in");
    for_each_verb(print_values);
    puts("    esac\n"
         "    if [ -n \"$values\" ]; then\n"
         "        COMPREPLY=($(compgen -W \"$values\" -- \"$cur\"))\n"
         "        if [ -n \"$files\" ]; then COMPREPLY+=($(compgen -f -- \"$cur\")); fi\n"
         "        return\n"
         "    fi\n"
         "    case \"$cur\" in\n"
         "    -*) case \"$verb\" in");
    for_each_verb(print_options);
    puts("        esac\n"
         "        compopt -o nospace\n"
         "        ;;\n"
         "    *) case \"$verb\" in");
    for_each_verb(print_operands);
    puts("        esac\n"
         "        ;;\n"
         "    esac\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
         "    if [ -n \"$files\" ]; then\n"
         "        compopt -o filenames\n"
         "        COMPREPLY+=($(compgen -f -- \"$cur\"))\n"
         "    fi\n"
         "}\n"
         "complete -F _memledger memledger");
}

static int run(int argc, char **argv)
{
    char unused;
    int first, status = ml_verb_begin(&ml_verb_completion, &unused, argc, argv, &first);

    if (status >= 0)
        return status;
    if (first + 1 != argc || strcmp(argv[first], "bash") != 0)
        return ml_verb_usage_error(&ml_verb_completion,
                                   "no shell given; bash is the only one supported");
    print_bash();
    return ML_EXIT_OK;
}

const struct ml_verb ml_verb_completion = {
    .name = "completion",
    .summary = "print a completion script for the shell",
    .usage = "bash",
    .details = "Load it with:  source <(memledger completion bash)",
    .group = ML_GROUP_OTHER,
    .operands = ML_OPERANDS_NONE,
    .run = run,
};
