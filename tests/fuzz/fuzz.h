/* fuzz.h: shared by fuzz targets, the driver and the mutations.
 *
 * A target is one file with LLVMFuzzerTestOneInput. It is linked with libFuzzer,
 * or with driver.c, which replays files and makes damaged copies of them, so
 * that the plain test run needs neither clang nor luck.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_FUZZ_H
#define ML_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "vec.h"

/* Run one input; must return 0, whatever the bytes are. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* What a target may have for the driver: an option of its own with a value, @return whether it
 * is one; and what it counted, printed with the driver's own progress and at its end. */
__attribute__((weak)) bool fuzz_take_option(const char *option, const char *value);
__attribute__((weak)) void fuzz_tell(bool at_end);

/* A promise that the code under test did not keep. */
#define FUZZ_REQUIRE(condition)                                                                    \
    ((condition)                                                                                   \
         ? (void)0                                                                                 \
         : (fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition), abort()))

/* Small numbers in, the same random numbers out, on every machine. */
struct fuzz_random {
    uint64_t state;
};

uint64_t fuzz_next(struct fuzz_random *r);

/* Below `limit`, which must not be 0. */
size_t fuzz_below(struct fuzz_random *r, size_t limit);

/* Damage the bytes in place: flips, overwritten numbers, cuts, splices of
 * `other`. They never get longer than `most` bytes.
 * @return 0 or -ENOMEM */
int fuzz_damage(struct fuzz_random *r, struct ml_buf *bytes, const struct ml_buf *other,
                size_t most);

/* A number at which lengths, counts and sums tend to break. */
uint64_t fuzz_edge_number(struct fuzz_random *r);

/* Damage that keeps the structure: of a trace its definitions and events, of the files that
 * can be imported their numbers, words, lines, opcodes and fields.
 * @return 0 or negative errno */
int fuzz_damage_trace(struct fuzz_random *r, struct ml_buf *bytes, const struct ml_buf *other);
int fuzz_damage_source(struct fuzz_random *r, struct ml_buf *bytes, const struct ml_buf *other,
                       size_t most);

/* Whether the bytes begin as a trace does, damaged or not. */
bool fuzz_is_trace(const uint8_t *bytes, size_t len);

/* Make the checksums of a trace right again, so that damage gets past them.
 * @heal   also make the lengths in the block headers fit what follows */
void fuzz_fix_sums(uint8_t *bytes, size_t len, bool heal);

#endif
