/* mxnet_argument_names.h: the names of a symbol's arguments, and the arrays that a program binds to
 * them.
 *
 * MXSymbolListArguments would replace a list that the program may still use: MXNet keeps one for
 * each thread. The function behind it returns a list of its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MXNET_ARGUMENT_NAMES_H
#define ML_MXNET_ARGUMENT_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "memledger/memledger.h"

/* nnvm::Symbol::ListInputOption */
enum ml_mxnet_inputs { ML_MXNET_ALL_INPUTS, ML_MXNET_ARGUMENTS, ML_MXNET_AUXILIARY_STATES };

struct ml_mxnet_names {
    const char *const *items;
    size_t count;
    void *vector[3]; /* MXNet's, which owns them */
};

/* @symbol  a valid SymbolHandle
 * @ret     to be released; empty if MXNet's functions are unknown */
void ml_mxnet_names_of(const void *symbol, enum ml_mxnet_inputs which, struct ml_mxnet_names *ret);
void ml_mxnet_names_release(struct ml_mxnet_names *names);

/* Whether the argument is an input of the network rather than a parameter, by the words that end
 * the names of inputs, before their numbers: Gluon exports "data", or "data0", "data1". */
bool ml_mxnet_is_input_name(const char *name);

/* Names the blocks of an array, also those that it does not have yet. Does nothing for NULL.
 * @category  what it is for the symbol */
void ml_mxnet_name_array(const void *array, enum memledger_category category, const char *name);

#endif
