/* cmd_help.c: `memledger help [VERB]`: the commands, or one of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "verbs.h"

static const char *const group_titles[ML_GROUP_COUNT] = {
    [ML_GROUP_RECORD] = "Record",
    [ML_GROUP_READ] = "Read a recording",
    [ML_GROUP_OTHER] = "Other",
};

static int list_commands(void)
{
    puts("Usage: memledger COMMAND [OPTION]...\n\n"
         "Records each allocation of a program and tells where the memory went.");
    for (int group = 0; group < ML_GROUP_COUNT; group++) {
        printf("\n%s:\n", group_titles[group]);
        for (size_t i = 0; ml_verbs[i]; i++)
            if ((int)ml_verbs[i]->group == group)
                printf("  %-15s%s\n", ml_verbs[i]->name, ml_verbs[i]->summary);
    }
    puts("\nStart with:\n"
         "  memledger run --heap -- ./your-program its arguments\n\n"
         "memledger COMMAND --help explains one, memledger --version tells the version.");
    return ML_EXIT_OK;
}

static int run(int argc, char **argv)
{
    const struct ml_verb *verb;
    char unused;
    char *ask_help[] = {"", "--help", NULL};
    int first, status = ml_verb_begin(&ml_verb_help, &unused, argc, argv, &first);

    if (status >= 0)
        return status;
    if (first == argc)
        return list_commands();
    verb = ml_verb_find(argv[first]);
    if (!verb)
        return ml_verb_usage_error(&ml_verb_help, "there is no command '%s'", argv[first]);
    return verb->run(2, ask_help);
}

const struct ml_verb ml_verb_help = {
    .name = "help",
    .summary = "explain a command",
    .usage = "[COMMAND]",
    .group = ML_GROUP_OTHER,
    .operands = ML_OPERANDS_VERB,
    .run = run,
};
