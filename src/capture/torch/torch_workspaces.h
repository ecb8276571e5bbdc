/* torch_workspaces.h: names the scratch memory that PyTorch gives to NVIDIA's libraries.
 *
 * PyTorch takes it from its own pool, like a tensor, and passes its address to the library. One of
 * the last blocks that the calling thread allocated is then a workspace of that library. The calls
 * are seen in PyTorch's CUDA libraries alone: other users of cuBLAS may have another version of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TORCH_WORKSPACES_H
#define ML_TORCH_WORKSPACES_H

/* Call when PyTorch has been loaded, outside of its locks: takes the loader's. May be called again.
 * Keeps errno. */
void ml_torch_workspaces_begin(void);

#endif
