/* main.c: find the command and run it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "nearest.h"
#include "say.h"
#include "verb_list.h"

#ifndef MEMLEDGER_VERSION
#define MEMLEDGER_VERSION "0.1.0"
#endif

static int unknown_command(const char *name)
{
    struct ml_nearest nearest = {.typed = name};

    for (size_t i = 0; ml_verbs[i]; i++)
        ml_nearest_offer(&nearest, ml_verbs[i]->name);
    ml_say("unknown %s '%s'%s%s%s", name[0] == '-' ? "option" : "command", name,
           nearest.word ? "; did you mean '" : "", nearest.word ? nearest.word : "",
           nearest.word ? "'?" : "");
    fputs("see memledger --help\n", stderr);
    return ML_EXIT_USAGE;
}

int main(int argc, char **argv)
{
    const struct ml_verb *verb;
    char *no_operands[] = {"help", NULL};

    if (argc < 2) {
        fputs("memledger: no command given; see memledger --help\n", stderr);
        return ML_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        puts("memledger " MEMLEDGER_VERSION);
        return ML_EXIT_OK;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return ml_verb_help.run(1, no_operands);
    verb = ml_verb_find(argv[1]);
    return verb ? verb->run(argc - 1, argv + 1) : unknown_command(argv[1]);
}
