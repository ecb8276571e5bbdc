/* got_patch.h: puts the hooks in place in a program that found the driver's functions before the
 * recorder was loaded, which is so when the driver itself loads it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_GOT_PATCH_H
#define ML_GOT_PATCH_H

/* Points everything loaded so far at the hooks. Precondition: the driver is known. */
void ml_got_patch(void);

/* The same for objects loaded since; does nothing if ml_got_patch was not called, and is cheap when
 * nothing was loaded. */
void ml_got_patch_again(void);

#endif
