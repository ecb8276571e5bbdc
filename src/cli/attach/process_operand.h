/* process_operand.h: the operand PID of a command.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_PROCESS_OPERAND_H
#define ML_CLI_PROCESS_OPERAND_H

#include <sys/types.h>

#include "options.h"

/* Parses the options and the only operand, a process number.
 * @return -1: go on; else the exit code, as ml_verb_begin */
int ml_process_operand(const struct ml_verb *verb, void *opts, int argc, char **argv,
                       pid_t *ret_pid);

#endif
