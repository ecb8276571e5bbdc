/* live_table.h: adds blocks to the live table, removes and changes them. The internal half of
 * replay.h; only the replay includes it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_LIVE_TABLE_H
#define ML_ANALYZE_LIVE_TABLE_H

#include "replay.h"

/* Adds the block of an allocation event, with the label and category given.
 * @return 0 or -ENOMEM */
int ml_live_open(struct ml_replay *r, uint32_t space, const struct ml_event *event, uint32_t label,
                 uint8_t category);

/* Adds a block that the totals already include, and whose address no other block has.
 * @return 0, -EEXIST or -ENOMEM */
int ml_live_adopt(struct ml_replay *r, const struct ml_block *block);

/* The index of the block at the address, -1 if none is live there. */
int64_t ml_live_find(const struct ml_replay *r, uint32_t space, uint64_t addr);

/* Removes the block at the address from the totals, as freed.
 * @keep   its entry stays in the pool, not live, for ml_live_restore or ml_live_drop
 * @return its index, which is still readable; -1: none is live there */
int64_t ml_live_close(struct ml_replay *r, uint32_t space, const struct ml_event *event, bool keep);

/* Restores a kept block as if it had not been freed. @return 0 or -ENOMEM */
int ml_live_restore(struct ml_replay *r, uint32_t block, const struct ml_event *event);

/* Takes an entry from the pool; the second returns it. @return the index or -ENOMEM */
int64_t ml_live_entry(struct ml_replay *r);
void ml_live_drop(struct ml_replay *r, uint32_t block);

/* Closes a block, already removed from its index, that a new allocation replaces. It does not
 * count as freed. */
void ml_live_close_replaced(struct ml_replay *r, struct ml_replay_space *s, uint32_t block,
                            const struct ml_event *event);

/* Frees [addr, addr + size): whole blocks and parts.
 * @return the number of blocks touched, or -ENOMEM */
int64_t ml_live_close_range(struct ml_replay *r, uint32_t space, const struct ml_event *event);

/* The same for an allocation in a ranged space: it replaces the live blocks in its range.
 * @return 0 or -ENOMEM */
int ml_live_replace_range(struct ml_replay *r, struct ml_replay_space *s,
                          const struct ml_event *event);

/* Switches the space to lookups by range. @return 0 or -ENOMEM */
int ml_live_make_ranged(struct ml_replay *r, struct ml_replay_space *s);

/* Cuts the bytes of `block`, a new one, out of the block around it, if there is one. The second
 * returns them when it is freed.
 * @return 0 or -ENOMEM */
int ml_live_cut(struct ml_replay *r, const struct ml_replay_space *s, const struct ml_event *event,
                uint32_t block);
void ml_live_paste(struct ml_replay *r, uint32_t block, uint64_t time_ns);

/* Call it once a new block is booked. If it was cut out of the block that made the peak, the total
 * has not changed, and the peak gets this block too: it is the one that has a name. */
void ml_live_keep_peak(struct ml_replay *r, uint32_t block);

/* Moves a block's bytes and its allocation to another category. */
void ml_live_label(struct ml_replay *r, uint32_t block, uint32_t label, uint8_t category,
                   uint64_t time_ns);

/* Marks the process of the space as ended, or as running after all. */
void ml_live_set_ended(struct ml_replay *r, uint32_t space, bool ended, uint64_t time_ns);

/* Handles an event after the instant of a frozen table: only its labels matter. */
void ml_live_learn(struct ml_replay *r, const struct ml_event *event);

#endif
