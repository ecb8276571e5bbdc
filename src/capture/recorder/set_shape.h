/* set_shape.h: how large a ring set is, and how much of it the process maps.
 *
 * The session sets the size of rings and the maximum number in a set. The first set has few,
 * because most programs have few threads. In a process whose address space is limited, rings are
 * smaller and fewer still (address_room.h). The collector reads the numbers from the set.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SET_SHAPE_H
#define ML_SET_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ml_ringset;

struct ml_set_shape {
    uint32_t ring_bytes;
    uint32_t ring_count;
    size_t mapped_bytes; /* excludes the reply if address space is limited */
    size_t taken_bytes;  /* that, plus the writers */
};

/* Chooses the shape of a recording's set with that number, counted from 0, from what the session
 * asks for; all earlier sets, of every recording, took `taken_bytes`. False: there is no address
 * space for even the smallest. Keeps errno. */
bool ml_set_shape_choose(uint32_t number, size_t taken_bytes, struct ml_set_shape *ret);

/* Copies the first bytes of the set's reply. False: there is no address space to map it. Changes
 * errno. */
bool ml_set_read_reply(const struct ml_ringset *set, const struct ml_set_shape *shape, char *to,
                       size_t bytes);

#endif
