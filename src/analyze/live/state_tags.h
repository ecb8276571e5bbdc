/* state_tags.h: the records of a checkpoint; see docs/trace-format.md. Only replay_state includes
 * it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_STATE_TAGS_H
#define ML_ANALYZE_STATE_TAGS_H

enum ml_state_tag {
    ML_STATE_COUNTERS = 1,
    ML_STATE_LOSSES = 2,
    ML_STATE_PROCESSES = 3,
    ML_STATE_SPACES = 4,
    ML_STATE_DEVICES = 5,
    ML_STATE_CATEGORIES = 6,
    ML_STATE_CUTS = 7,
    ML_STATE_CUT_BYTES = 8,
    ML_STATE_MOVES = 9,
    ML_STATE_BLOCKS = 10,
};

#endif
