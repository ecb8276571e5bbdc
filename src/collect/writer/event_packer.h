/* event_packer.h: compresses events blocks.
 *
 * A block is a sequence of byte planes (encode.h). Some repeat themselves, and zstd's matches
 * describe them best. Others look random, such as which of many blocks is freed: there short
 * matches cost more than the bytes that they replace, and Huffman codes of the plane's own bytes
 * are smaller and quicker. The packer tries both on some blocks, remembers for each plane which was
 * smaller, and writes a block as several zstd frames, which readers unpack like one.
 *
 * Not thread-safe.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_EVENT_PACKER_H
#define ML_EVENT_PACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* More than a block has: four for each column, and the header. */
#define ML_PACKER_PLANES 64

struct ZSTD_CCtx_s;

struct ml_event_packer {
    struct ZSTD_CCtx_s *matching;
    struct ZSTD_CCtx_s *coding; /* without matches */
    uint32_t blocks;            /* packed so far, without small ones */
    bool prefers_coding[ML_PACKER_PLANES]; /* by plane */
};

/* @return 0 or -ENOMEM. Precondition: all zero. To be released, after a failure too. */
int ml_event_packer_init(struct ml_event_packer *p);
void ml_event_packer_release(struct ml_event_packer *p);

/* The room that ml_event_packer_pack needs. */
size_t ml_event_packer_room(size_t raw_bytes);

/* Compresses what ml_encoder_write has written.
 * @level   zstd's
 * @out     has that room
 * @return  the number of bytes; 0: zstd failed */
size_t ml_event_packer_pack(struct ml_event_packer *p, int level, const uint8_t *raw,
                            size_t raw_bytes, uint8_t *out);

#endif
