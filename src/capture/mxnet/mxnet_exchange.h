/* mxnet_exchange.h: replaces words of MXNet's library that point to its own functions with pointers
 * to hooks.
 *
 * A *feature* is a group of functions that are hooked together, or not at all if one of them is not
 * as expected.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MXNET_EXCHANGE_H
#define ML_MXNET_EXCHANGE_H

#include <stdbool.h>

#include "mxnet_layout.h"

/* One function. Its hook calls *real, which is set before the first call. */
struct ml_mxnet_exchange {
    const char *table; /* symbol of the table of virtual functions that has it; NULL: it is called
                          by name, or only looked up */
    const char *function; /* its symbol; NULL: this version has none, which is fine */
    void *hook;           /* NULL: none, only *real is needed */
    void **real;
};

#define ML_MXNET_EXCHANGES_MAX 12

struct ml_mxnet_feature {
    struct ml_mxnet_exchange exchanges[ML_MXNET_EXCHANGES_MAX]; /* ends with one without real */
    bool *is_on; /* set before the hooks are put in place; may be NULL */
};

/* Puts hooks in place; once per process.
 * @inside    an address in the library
 * @features  `count` of them, NULL for one that this version lacks
 * @return whether all features are as expected */
bool ml_mxnet_exchange(void *library, const void *inside,
                       const struct ml_mxnet_feature *const features[], unsigned count);

/* The slot of a virtual function in its class, NULL: there is none. */
void **ml_mxnet_virtual(void *library, const char *table, const void *function);

#endif
