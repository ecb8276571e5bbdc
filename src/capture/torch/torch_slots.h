/* torch_slots.h: hooks on functions of other libraries as PyTorch's CUDA libraries call them, and
 * no one else: other users may have another version of the library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TORCH_SLOTS_H
#define ML_TORCH_SLOTS_H

struct ml_torch_slot {
    const char *symbol;
    void *hook;
    void **real; /* the function behind it; read with __atomic_load_n, NULL while it is unknown */
};

/* Points the calls of libtorch_cuda.so and libtorch_cuda_linalg.so at the hooks. Call when PyTorch
 * has been loaded, outside of its locks: takes the loader's. May be called again. Keeps errno.
 * @prefix  what all symbols begin with */
void ml_torch_slots_fill(const char *prefix, const struct ml_torch_slot *slots, unsigned count);

#endif
