/* simulated_noise.h: random factors near 1, the same for the same seed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SIMULATED_NOISE_H
#define ML_SIMULATED_NOISE_H

#include <stdint.h>

/* A step of splitmix64, as a number from 0 to 1. */
static inline double simulated_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* The sum of twelve uniform numbers is nearly normal, with a deviation of 1. */
static inline double simulated_noise(uint64_t *state, double deviation)
{
    double normal = -6;

    for (int i = 0; i < 12; i++)
        normal += simulated_random(state);
    return 1 + normal * deviation;
}

#endif
