/* process_operand.c: see process_operand.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "process_operand.h"

#include <stdlib.h>
#include <string.h>

int ml_process_operand(const struct ml_verb *verb, void *opts, int argc, char **argv,
                       pid_t *ret_pid)
{
    const char *text;
    int first;
    int r = ml_verb_begin(verb, opts, argc, argv, &first);

    if (r >= 0)
        return r;
    if (first == argc)
        return ml_verb_usage_error(verb, "no process given; name one by its id, as ps shows it");
    if (first + 1 < argc)
        return ml_verb_usage_error(verb, "expected one process, but got '%s' and '%s'", argv[first],
                                   argv[first + 1]);
    text = argv[first];
    if (!*text || strlen(text) > 9 || strspn(text, "0123456789") != strlen(text) || atoi(text) == 0)
        return ml_verb_usage_error(
            verb, "'%s' is not a process id, a number; pgrep finds that of a program by its name",
            text);
    *ret_pid = atoi(text);
    return -1;
}
