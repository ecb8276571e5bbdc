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

/* For a process that is under way. Call before its recording begins: empties the book of an earlier
 * one, and opens NVML if the program has started the driver. */
void ml_cuda_book_prepare(bool driver_runs);

/* The book, for reading its atomic counts; NULL: there is none. */
struct ml_cuda_state *ml_cuda_book(void);

/* Calls `change` with the book locked. @return its result; false if the lock could not be taken */
bool ml_cuda_book_with(bool (*change)(struct ml_cuda_state *book));

/* Records the last samples of the devices on which this process has memory. */
void ml_cuda_book_last(struct ml_cuda_state *book);

#endif
