/* event_packer.h: compresses events blocks.
 *
 * A block is a sequence of byte planes (encode.h). Some repeat themselves, and zstd's matches
 * describe them best. Others look random, such as which of many blocks is freed: there short
 * matches cost more than the bytes that they replace, and Huffman codes of the plane's own bytes
 * are smaller and quicker. Where there is time, some planes are worth a longer search for matches.
 * The packer tries these ways on some blocks, remembers for each plane which was best, and writes a
 * block as several zstd frames, which readers unpack like one.
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

enum ml_packer_way {
    ML_PACK_MATCHES,
    ML_PACK_CODES,    /* no matches */
    ML_PACK_SEARCHES, /* matches, longer */
    ML_PACKER_WAYS,
};

struct ml_event_packer {
    struct ZSTD_CCtx_s *zstd[ML_PACKER_WAYS];
    uint32_t blocks;                /* packed so far, without small ones */
    uint8_t ways[ML_PACKER_PLANES]; /* enum ml_packer_way, by plane */
};

/* @return 0 or -ENOMEM. Precondition: all zero. To be released, after a failure too. */
int ml_event_packer_init(struct ml_event_packer *p);
void ml_event_packer_release(struct ml_event_packer *p);

/* The room that ml_event_packer_pack needs. */
size_t ml_event_packer_room(size_t raw_bytes);

/* Compresses what ml_encoder_write has written.
 * @may_search  there is time for longer searches, where they pay
 * @out         has that room
 * @return      the number of bytes; 0: zstd failed */
size_t ml_event_packer_pack(struct ml_event_packer *p, bool may_search, const uint8_t *raw,
                            size_t raw_bytes, uint8_t *out);

#endif
