/* text.h: numbers as people read and type them.
 *
 * Formatting writes into a caller's 32 bytes and returns them, so a call can be a printf
 * argument. Parsing takes the whole string or nothing. Independent of the locale; the decimal
 * sign is a point. Byte counts are written with binary prefixes: KiB, never KB.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_BASE_TEXT_H
#define ML_BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "utf8.h"

enum ml_unit { ML_UNIT_AUTO, ML_UNIT_B, ML_UNIT_KIB, ML_UNIT_MIB, ML_UNIT_GIB };

/* "512 B", "1.5 KiB", "392.0 MiB", "4.00 GiB", "-1.0 MiB". ML_UNIT_AUTO takes
 * the largest unit, up to EiB, in which the number is at least 1; a fixed unit
 * lines a column up. Rounds to nearest. @return buf */
const char *ml_format_bytes(char buf[32], int64_t bytes, enum ml_unit unit);

/* "1,234,567". @return buf */
const char *ml_format_count(char buf[32], int64_t count);

/* "780 ns", "12.3 us", "45.6 ms", "1.23 s", "2 min 05 s", "3 h 07 min".
 * @return buf */
const char *ml_format_duration_ns(char buf[32], int64_t ns);

/* The part of a path after its last slash; all of it if it has none. */
const char *ml_base_name(const char *path);

/* "auto", "B", "KiB", "MiB", "GiB", in any case.
 * @return 0, or -EINVAL: also for KB, MB and GB, which mean powers of ten */
int ml_parse_unit(const char *text, enum ml_unit *ret);

/* "16", "4K", "1.5MiB", "2g", "1 TiB": a number, then B or one of K M G T, alone
 * or with iB, in any case. KB, MB, GB and TB are powers of ten. A fraction of a byte is rounded to
 * nearest, but not accepted without a prefix.
 * @return 0, -EINVAL, or -ERANGE when it does not fit */
int ml_parse_bytes(const char *text, uint64_t *ret);

/* "1.5s", "20ms", "300us", "12ns", "5min" or "5m", "2h"; a plain number counts
 * seconds.
 * @return 0, -EINVAL, or -ERANGE when it does not fit */
int ml_parse_duration_ns(const char *text, uint64_t *ret);

#endif
