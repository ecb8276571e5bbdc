/* canvas_inks.c: colours, dashes and hatches.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "canvas_parts.h"

struct shades {
    uint32_t light, dark;
};

/* Parts are pale on paper and deep on a dark screen, so that text stands out. */
static const struct shades inks[ML_INKS] = {
    [ML_INK_PAPER] = {0xffffff, 0x14181d},
    [ML_INK_TEXT] = {0x1d2329, 0xe8ebee},
    [ML_INK_QUIET] = {0x56606b, 0xa4adb7},
    [ML_INK_GRID] = {0xe6e9ed, 0x2a3038},
    [ML_INK_AXIS] = {0x8b949e, 0x6b7580},
    [ML_INK_EDGE] = {0x000000, 0x000000},
    [ML_INK_WHITE] = {0xffffff, 0xf4f6f8},
    [ML_INK_BLACK] = {0x1d2329, 0x0b0d10},
    [ML_INK_RED] = {0xd62728, 0xe5484d},
    [ML_INK_GREY] = {0x5f666d, 0x8b949e},
    [ML_INK_GREY + 1] = {0x7d848b, 0x78818a},
    [ML_INK_GREY + 2] = {0x979da3, 0x666f78},
    [ML_INK_GREY + 3] = {0xadb2b7, 0x565f68},
    [ML_INK_GREY + 4] = {0xbfc3c7, 0x495159},
    [ML_INK_GREY + 5] = {0xced1d4, 0x3e454d},
    [ML_INK_GREY + 6] = {0xdadddf, 0x353c43},
    [ML_INK_GREY + 7] = {0xe6e8e9, 0x2e343a},
    [ML_INK_PART] = {0xddd5c8, 0x5e574c},
    [ML_INK_PART + 1] = {0x8ebbe8, 0x2f629a},
    [ML_INK_PART + 2] = {0xb4c6cf, 0x48606e},
    [ML_INK_PART + 3] = {0xf4a582, 0xa04e2c},
    [ML_INK_PART + 4] = {0xbcaae0, 0x61509c},
    [ML_INK_PART + 5] = {0x93d3a2, 0x2f7546},
    [ML_INK_PART + 6] = {0xf4d675, 0x8a6d1a},
    [ML_INK_PART + 7] = {0x86d5d3, 0x1f7472},
    [ML_INK_PART + 8] = {0xf2a9c4, 0x93406a},
    [ML_INK_PART + 9] = {0xd9c3a5, 0x7a5f3c},
    [ML_INK_PART + 10] = {0xc6dd83, 0x62772a},
    [ML_INK_PART + 11] = {0xe79c9c, 0x8f3b3f},
    [ML_INK_PART + 12] = {0x9fa8e8, 0x3f4a9a},
    /* The convolution algorithms keep the colours of earlier versions. */
    [ML_INK_SERIES] = {0x00bfff, 0x00bfff},
    [ML_INK_SERIES + 1] = {0x008000, 0x4cc94c},
    [ML_INK_SERIES + 2] = {0x8b0000, 0xff6b5e},
    [ML_INK_SERIES + 3] = {0xffd700, 0xffd700},
    [ML_INK_SERIES + 4] = {0xee82ee, 0xee82ee},
    [ML_INK_SERIES + 5] = {0xd95f02, 0xff9a4d},
    [ML_INK_SERIES + 6] = {0x5e3c99, 0xb39ddb},
    [ML_INK_SERIES + 7] = {0x1b7f79, 0x5fd3c9},
    [ML_INK_SERIES + 8] = {0x7f7f7f, 0xb8b8b8},
    [ML_INK_SERIES + 9] = {0xa6761d, 0xd9b35b},
};

uint32_t ml_ink_rgb(enum ml_ink ink, bool dark)
{
    return dark ? inks[ink].dark : inks[ink].light;
}

const double ml_dash_lengths[ML_DASHES][ML_DASH_PARTS] = {
    {0}, {8, 3}, {2, 2.5}, {10, 3, 2, 3}, {5, 2}, {12, 3, 2, 3, 2, 3},
};

/* Diagonals run past the tile's corners, so that they join those of the next one. */
static const struct ml_hatch_line rising[] = {{-1, 1, 1, -1}, {-1, 9, 9, -1}, {7, 9, 9, 7}};
static const struct ml_hatch_line falling[] = {{7, -1, 9, 1}, {-1, -1, 9, 9}, {-1, 7, 1, 9}};
static const struct ml_hatch_line level[] = {{0, 4, 8, 4}};
static const struct ml_hatch_line upright[] = {{4, 0, 4, 8}};
static const struct ml_hatch_line crossed[] = {{0, 4, 8, 4}, {4, 0, 4, 8}};
static const struct ml_hatch_line dotted[] = {{1.4, 2, 2.6, 2}, {5.4, 6, 6.6, 6}};
static const struct ml_hatch_line dense[] = {
    {-1, 1, 1, -1}, {-1, 5, 5, -1}, {-1, 9, 9, -1}, {3, 9, 9, 3}, {7, 9, 9, 7}};

const struct ml_hatch_line *ml_hatch_lines(enum ml_hatch hatch, size_t *ret_count)
{
    static const struct {
        const struct ml_hatch_line *lines;
        size_t count;
    } hatches[ML_HATCHES] = {
        [ML_HATCH_RISING] = {rising, ML_ARRAY_SIZE(rising)},
        [ML_HATCH_FALLING] = {falling, ML_ARRAY_SIZE(falling)},
        [ML_HATCH_LEVEL] = {level, ML_ARRAY_SIZE(level)},
        [ML_HATCH_UPRIGHT] = {upright, ML_ARRAY_SIZE(upright)},
        [ML_HATCH_CROSSED] = {crossed, ML_ARRAY_SIZE(crossed)},
        [ML_HATCH_DOTTED] = {dotted, ML_ARRAY_SIZE(dotted)},
        [ML_HATCH_DENSE] = {dense, ML_ARRAY_SIZE(dense)},
    };

    *ret_count = hatches[hatch].count;
    return hatches[hatch].lines;
}
