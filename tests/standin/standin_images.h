/* standin_images.h: what the stand-in reads from a program for the device: its length and, in a
 * text for tests, its contents:
 *
 *     STANDIN 8388608 first_kernel second_kernel
 *
 * Others are ELF, PTX or fatbins.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STANDIN_IMAGES_H
#define STANDIN_IMAGES_H

#include <stdint.h>

/* @return 0 when it is no image */
uint64_t standin_image_bytes(const void *image);

/* " first_kernel second_kernel ": a space before and after each, to be freed;
 * NULL when the image does not say. */
char *standin_image_kernels(const void *image);

#endif
