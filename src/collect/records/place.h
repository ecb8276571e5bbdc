/* place.h: the place of a process in a distributed job: "rank=3 world_size=8 dp=1". A launcher says
 * most of it before the process begins (struct ml_hello); the program may know more later.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PLACE_H
#define ML_PLACE_H

#include <stddef.h>

#include "dict.h"
#include "ring.h"

#define ML_PLACE_BYTES (sizeof(((struct ml_hello *)0)->place) + sizeof(struct ml_given_place))

struct ml_target;

/* Remembers what the launcher said and defines it. A damaged text ends at its first byte that is
 * not printable. */
void ml_place_begin(struct ml_target *t, const struct ml_hello *hello, struct ml_dict *dict);

/* Adds what the program has said since. If it names a rank and the process has no role, the role is
 * "rank N" from now on. */
void ml_place_note(struct ml_target *t, struct ml_dict *dict);

/* Joins two lists of key=value: the values of `later` replace those of `first`. `room` holds both.
 */
void ml_place_join(const char *first, const char *later, char *ret, size_t room);

#endif
