/* left_alone.h: parts of a program that the recorder did not know and left alone, as settings
 * of the trace. A process says so on stderr, once a run; the collector keeps it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_FORMAT_LEFT_ALONE_H
#define ML_FORMAT_LEFT_ALONE_H

#include <stdint.h>

/* Bit numbers. */
enum ml_left_alone {
    ML_LEFT_MXNET,       /* its memory is not recorded */
    ML_LEFT_MXNET_NAMES, /* some of its memory has no name */
    ML_LEFT_AUTOGRAD,    /* memory of PyTorch's backward passes has no modules */
    ML_LEFT_COUNT,
};

struct ml_left_alone_item {
    uint32_t notice;     /* enum ml_notice */
    const char *name;    /* in JSON */
    const char *setting; /* its key; the value is ML_LEFT_ALONE_VALUE */
};
extern const struct ml_left_alone_item ml_left_alone[ML_LEFT_COUNT];

#define ML_LEFT_ALONE_VALUE "unknown build"

#endif
