/* engine.h: what every layer needs to run: where memory comes from and who
 * computes. A GPU back end would add its stream here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef VGG19_ENGINE_H
#define VGG19_ENGINE_H

#include "buffers.h"
#include "workers.h"

struct engine {
    struct buffers buffers;
    struct workers *workers;
};

#endif
