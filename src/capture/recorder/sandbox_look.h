/* sandbox_look.h: checks which restrictions this process has, when it starts and after a fork. See
 * sandbox.h for the consequences.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SANDBOX_LOOK_H
#define ML_SANDBOX_LOOK_H

#include <stdatomic.h>
#include <stdint.h>

/* Reads /proc/self/status, unless calls are forbidden already. Makes only calls that the dynamic
 * loader makes too. Keeps errno. */
void ml_sandbox_look(void);

/* The same, unless it was done since the program started. */
void ml_sandbox_look_first(void);

/* Why that file could not be read, which also forbids calls. */
enum ml_sight {
    ML_SIGHT_CLEAR,
    ML_SIGHT_NO_PROC,        /* it does not exist, as in a chroot */
    ML_SIGHT_NO_DESCRIPTORS, /* a forked child looks again */
};

enum ml_sight ml_sandbox_sight(void);

/* The number of filters, added by this process or its ancestors, that leave the recorder alone. */
extern _Atomic uint32_t ml_filters_spared;

#endif
