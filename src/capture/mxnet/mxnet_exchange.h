/* mxnet_exchange.h: words of MXNet's library that lead to functions of its own, and are
 * made to lead to hooks.
 *
 * What can be done without is a feature: some functions that are hooked all, or none where
 * one of them is not what it should be.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MXNET_EXCHANGE_H
#define ML_MXNET_EXCHANGE_H

#include <stdbool.h>

#include "mxnet_layout.h"

/* One function. Its hook goes on to *real, which is set before the first call. */
struct ml_mxnet_exchange {
    const char *table;    /* symbol of the table of virtual functions that has it; NULL: it is
                             called by name, or not at all and only found */
    const char *function; /* its symbol; NULL: this version has none, which is fine */
    void *hook;           /* NULL: none, only *real is wanted */
    void **real;
};

#define ML_MXNET_EXCHANGES_MAX 12

struct ml_mxnet_feature {
    struct ml_mxnet_exchange exchanges[ML_MXNET_EXCHANGES_MAX]; /* up to one without real */
    bool *is_on; /* set before the hooks are put in place; NULL: nobody asks */
};

/* Puts hooks in place; once per process.
 * @inside    an address in the library
 * @features  `count` of them, NULL where there is none
 * @return whether all is as it should be */
bool ml_mxnet_exchange(void *library, const void *inside,
                       const struct ml_mxnet_feature *const features[], unsigned count);

/* Where a class has a virtual function, NULL: nowhere. */
void **ml_mxnet_virtual(void *library, const char *table, const void *function);

#endif
