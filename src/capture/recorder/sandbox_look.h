/* sandbox_look.h: looks at what restricts this process when it starts, and after a fork. See
 * sandbox.h for what follows from it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SANDBOX_LOOK_H
#define ML_SANDBOX_LOOK_H

#include <stdatomic.h>
#include <stdint.h>

/* Reads /proc/self/status, unless no calls are allowed as it is. Makes only calls that the
 * dynamic loader makes too. Keeps errno. */
void ml_sandbox_look(void);

/* The same, unless it was done since the program was started. */
void ml_sandbox_look_first(void);

/* Why that file could not be read, which forbids calls too. */
enum ml_sight {
    ML_SIGHT_CLEAR,
    ML_SIGHT_NO_PROC,        /* it is not there, as in a chroot */
    ML_SIGHT_NO_DESCRIPTORS, /* a forked child looks again */
};

enum ml_sight ml_sandbox_sight(void);

/* How many filters were added, by this process or those that it comes from, that leave the
 * recorder alone. */
extern _Atomic uint32_t ml_filters_spared;

#endif
