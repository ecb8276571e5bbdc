/* left_alone.c: see left_alone.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "left_alone.h"

#include "ring.h"

const struct ml_left_alone_item ml_left_alone[ML_LEFT_COUNT] = {
    [ML_LEFT_MXNET] = {ML_NOTICE_MXNET, "mxnet", "left_alone.mxnet"},
    [ML_LEFT_MXNET_NAMES] = {ML_NOTICE_MXNET_PARTLY, "mxnet names", "left_alone.mxnet_names"},
    [ML_LEFT_AUTOGRAD] = {ML_NOTICE_AUTOGRAD, "autograd", "left_alone.autograd"},
};
