/* gpu_seed.h: a small trace of a program on a GPU, to fuzz its ledger from.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_FUZZ_GPU_SEED_H
#define ML_FUZZ_GPU_SEED_H

/* Every sort of space that the CUDA hooks fill, blocks in them, samples between.
 * @return 0 or negative errno */
int gpu_seed_write(const char *path);

#endif
