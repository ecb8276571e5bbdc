/* window_ranges.h: spaces of window_blocks.h whose memory is freed in ranges. The internal half;
 * only window_blocks.c and window_ranges.c include it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_WINDOW_RANGES_H
#define ML_WINDOW_RANGES_H

#include "window_blocks.h"

/* An entry of the pool. @return its index or -ENOMEM */
int64_t ml_window_pool_add(struct ml_window_blocks *w, const struct ml_window_block *block);
void ml_window_pool_drop(struct ml_window_blocks *w, uint32_t block);

/* Removes a block of so many bytes from the sums of its space. */
void ml_window_book_out(struct ml_window_space *s, uint64_t bytes);

/* The block that contains the address, in a space with ranges; -1: none. */
int64_t ml_window_ranges_find(const struct ml_window_blocks *w, const struct ml_window_space *s,
                              uint64_t addr);

/* Removes whole blocks and parts from a space with ranges. @return 0 or -ENOMEM */
int ml_window_ranges_close(struct ml_window_blocks *w, struct ml_window_space *s, uint64_t addr,
                           uint64_t size);

/* The same for an event, which is the sign that the space has ranges. */
int ml_window_ranges_free(struct ml_window_blocks *w, struct ml_window_space *s, uint64_t addr,
                          uint64_t size);

#endif
