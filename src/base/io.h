/* io.h: read and write all bytes, or fail.
 *
 * Loops around read(2), write(2) and pread(2) that continue after signals and short transfers.
 * Async-signal-safe.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_BASE_IO_H
#define ML_BASE_IO_H

#include <stddef.h>
#include <stdint.h>

/* Write `len` bytes at the file's position. After a failure part of them may
 * have been written.
 * @return 0 or negative errno */
int ml_write_all(int fd, const void *bytes, size_t len);

/* Read exactly `len` bytes at `offset`; the file's position does not move.
 * After a failure the contents of `ret_bytes` are undefined.
 * @return 0, -ENODATA when the file ends too early, or negative errno */
int ml_pread_all(int fd, void *ret_bytes, size_t len, uint64_t offset);

/* Write all that follows the position of `from` at the position of `to`.
 * @return 0 or negative errno */
int ml_copy_all(int from, int to);

#endif
