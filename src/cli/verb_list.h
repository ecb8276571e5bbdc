/* verb_list.h: the list of commands.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_VERB_LIST_H
#define ML_CLI_VERB_LIST_H

#include "verbs.h"

/* All of them but the hidden one, in the order of `memledger --help`; NULL-terminated. */
extern const struct ml_verb *const ml_verbs[];

/* @return NULL when there is no such command */
const struct ml_verb *ml_verb_find(const char *name);

#endif
