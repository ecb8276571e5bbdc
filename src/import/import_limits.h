/* import_limits.h: limits above which importers reject a value.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_IMPORT_LIMITS_H
#define ML_IMPORT_LIMITS_H

#include <stdint.h>

/* No memory is larger than this (1 PiB): a file with a larger size is damaged or of another
 * format. It takes thousands of smaller sizes for a sum to overflow. */
#define ML_IMPORT_BYTES_MAX (UINT64_C(1) << 50)
#define ML_IMPORT_TOO_LARGE                                                                        \
    "a size that no memory has, more than 1 PiB: the file is damaged or of another format; write " \
    "it again, or name the format with --format"

/* The most that gzip data may unpack to: a constant, and a factor for each byte read. Logs and
 * profiles compress to a tenth or a fiftieth, gzip can reach a thousandth. */
#define ML_UNPACKED_LEAST_BYTES (UINT64_C(256) << 20)
#define ML_UNPACKED_PER_BYTE 256

#endif
