/* replay_spaces.h: the spaces, devices and processes of a replay, added when an event first names
 * them. Only the replay includes it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_REPLAY_SPACES_H
#define ML_ANALYZE_REPLAY_SPACES_H

#include "replay.h"

/* Finds the level to count for each device of each process: the highest that the trace defines,
 * up to the device's cap.
 * @return 0 or -ENOMEM */
int ml_replay_find_levels(struct ml_replay *r, const struct ml_level_caps *caps);

/* The level of a defined space, from 1 to ML_LEVELS - 1. */
uint32_t ml_replay_level_of(const struct ml_space *space);

/* The index of a space by its number in the trace; adds it if it is new. @return -ENOMEM */
int64_t ml_replay_find_space(struct ml_replay *r, uint32_t number, uint64_t time_ns);
int64_t ml_replay_find_process(struct ml_replay *r, uint32_t number, uint64_t time_ns);

/* Removes the remaining memory of the process from the totals. */
void ml_replay_end_process(struct ml_replay *r, uint32_t process, uint64_t time_ns);

#endif
