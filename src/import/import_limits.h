/* import_limits.h: what importers refuse to believe.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_IMPORT_LIMITS_H
#define ML_IMPORT_LIMITS_H

#include <stdint.h>

/* A size above this (1 PiB) is no memory's: the file is damaged or something else. It takes
 * thousands of sizes below it for a sum to overflow. */
#define ML_IMPORT_BYTES_MAX (UINT64_C(1) << 50)
#define ML_IMPORT_TOO_LARGE                                                                        \
    "a size that no memory has, more than 1 PiB: the file is damaged or of another format; write " \
    "it again, or name the format with --format"

/* What gzip data may unpack to: so much, and so much for each byte that was read. Logs and
 * profiles shrink to a tenth or a fiftieth, gzip can reach a thousandth. */
#define ML_UNPACKED_LEAST_BYTES (UINT64_C(256) << 20)
#define ML_UNPACKED_PER_BYTE 256

#endif
