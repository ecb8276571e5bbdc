/* torch_types.h: the type of the numbers in a block that PyTorch allocates.
 *
 * PyTorch's allocators get a number of bytes. The functions that ask them for the memory of a new
 * tensor know its type: each is hooked, and while it runs, the thread's blocks are of that type. A
 * mark of kind ML_MARK_TYPE says when the type of a thread's blocks changes, so that a program
 * whose tensors are all of one type costs one mark.
 *
 * Some operators, such as index_select, make an empty tensor and then resize it: the block that
 * comes next, unless another tensor is made before, is of that tensor's type. Memory that PyTorch
 * takes in other ways (resize_() of an older tensor, scratch memory of a library) has no type.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TORCH_TYPES_H
#define ML_TORCH_TYPES_H

#include "record.h"

/* Of this thread. Types are the numbers of c10::ScalarType, plus one; 0: none. */
struct ml_torch_types {
    uint8_t now;        /* of the tensor that is being made, or was made without memory */
    uint8_t recorded;   /* of the last block */
    bool making;        /* a tensor is being made */
    bool used;          /* a block was recorded for it */
    uint32_t recording; /* in which it was recorded */
};
extern __thread struct ml_torch_types ml_torch_types;

/* For ml_torch_note_type. */
void ml_torch_type_changed(void);

/* Call it before a block is recorded. */
static ML_ALWAYS_INLINE void ml_torch_note_type(uint64_t bytes)
{
    struct ml_torch_types *t = &ml_torch_types;

    t->used = true;
    if (bytes < ML_TYPED_BYTES_MIN)
        return;
    if (ML_UNLIKELY(!t->making || t->now != t->recorded || t->recording != ml_record_place()))
        ml_torch_type_changed();
}

#endif
