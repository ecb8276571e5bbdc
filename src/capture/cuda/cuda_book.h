/* cuda_book.h: functions that the parts of the CUDA book share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CUDA_BOOK_H
#define ML_CUDA_BOOK_H

#include "cuda_blocks.h"
#include "cuda_charges.h"
#include "cuda_state.h"

/* The space that blocks of a sort are in. */
struct ml_cuda_sort_place {
    enum ml_cuda_space space;
    bool charged; /* to its device, by itself */
};
extern const struct ml_cuda_sort_place ml_cuda_sorts[];

/* Enters a block in the book and records it. Its memory is charged to its device unless it belongs
 * to the host, another process or a pool, or is managed. */
void ml_cuda_open_block(struct ml_cuda_state *book, const struct ml_cuda_block *block);

/* The reverse. Pass the copy in *ret to open it again. */
void ml_cuda_close_block(struct ml_cuda_state *book, struct ml_cuda_block *block,
                         struct ml_cuda_block *ret);

#endif
