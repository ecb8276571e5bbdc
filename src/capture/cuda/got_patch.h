/* got_patch.h: puts the hooks in place in a program that found the driver's
 * functions before the recorder came: when the driver itself loads it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_GOT_PATCH_H
#define ML_GOT_PATCH_H

/* Leads everything loaded so far to the hooks. The driver must be known. */
void ml_got_patch(void);

/* The same for what was loaded since; nothing where ml_got_patch was not called,
 * and cheap when nothing was loaded. */
void ml_got_patch_again(void);

#endif
