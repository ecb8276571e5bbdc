/* event_packer.c: see event_packer.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "event_packer.h"

#include <errno.h>

#define ZSTD_STATIC_LINKING_ONLY /* for ZSTD_c_literalCompressionMode */
#include <zstd.h>

#include "encode.h"

/* Smaller blocks are one frame: each more takes some 12 bytes. */
#define SPLIT_EVENTS_MIN 4096
/* Planes of fewer bytes belong to the one before. */
#define PLANE_BYTES_MIN 1024
/* All ways are tried on one block in so many. */
#define TRIAL_BLOCKS 8
/* On random malloc traffic level 1 takes 15 ns an event and level 3 30 ns for 1 % fewer bytes. */
#define LEVEL_MATCHES 1
/* A longer search takes three times as long, so it must save a twentieth of the plane. */
#define LEVEL_SEARCHES 6
#define SEARCH_SAVES 20
/* Huffman codes of literals although there are no matches: zstd's ZSTD_ps_enable. */
#define LITERALS_CODED 1

_Static_assert(1 + 4 * ML_COLUMNS <= ML_PACKER_PLANES, "a number for each plane");

struct planes {
    const uint8_t *starts[ML_PACKER_PLANES + 1]; /* and the end of the last */
    uint8_t numbers[ML_PACKER_PLANES];           /* the same in each block; the header's is 0 */
    int count;
};

int ml_event_packer_init(struct ml_event_packer *p)
{
    static const int levels[ML_PACKER_WAYS] = {
        [ML_PACK_MATCHES] = LEVEL_MATCHES, [ML_PACK_SEARCHES] = LEVEL_SEARCHES};

    for (int i = 0; i < ML_PACKER_WAYS; i++) {
        int level = i == ML_PACK_CODES ? ZSTD_minCLevel() : levels[i];

        p->zstd[i] = ZSTD_createCCtx();
        if (!p->zstd[i])
            return -ENOMEM;
        (void)ZSTD_CCtx_setParameter(p->zstd[i], ZSTD_c_compressionLevel, level);
    }
    /* If this zstd cannot, the planes are never smaller that way. */
    (void)ZSTD_CCtx_setParameter(p->zstd[ML_PACK_CODES], ZSTD_c_literalCompressionMode,
                                 LITERALS_CODED);
    return 0;
}

void ml_event_packer_release(struct ml_event_packer *p)
{
    for (int i = 0; i < ML_PACKER_WAYS; i++)
        ZSTD_freeCCtx(p->zstd[i]);
    *p = (struct ml_event_packer){0};
}

size_t ml_event_packer_room(size_t raw_bytes)
{
    return ZSTD_compressBound(raw_bytes) + ML_PACKER_PLANES * ZSTD_compressBound(0);
}

/* Begins a plane, unless it is too short. */
static void add_plane(struct planes *planes, int number, const uint8_t **at, size_t bytes)
{
    if (bytes >= PLANE_BYTES_MIN) {
        planes->starts[planes->count] = *at;
        planes->numbers[planes->count++] = (uint8_t)number;
    }
    *at += bytes;
}

static void find_planes(const uint8_t *raw, struct planes *planes)
{
    const uint8_t *at = raw + ML_COLUMN_HEADER_BYTES;

    planes->count = 1;
    planes->starts[0] = raw;
    planes->numbers[0] = 0;
    for (int i = 0; i < ML_COLUMNS; i++) {
        size_t count = ml_load_u32(raw + 4 * i);

        if (ml_column_entry_bytes[i] == 4)
            for (int k = 0; k < 4; k++)
                add_plane(planes, 1 + 4 * i + k, &at, count);
        else
            add_plane(planes, 1 + 4 * i, &at, count * ml_column_entry_bytes[i]);
    }
    planes->starts[planes->count] = at;
}

/* @return the number of bytes; 0: zstd failed */
static size_t pack_frame(struct ZSTD_CCtx_s *zstd, const uint8_t *raw, size_t raw_bytes,
                         uint8_t *out)
{
    size_t n = ZSTD_compress2(zstd, out, ZSTD_compressBound(raw_bytes), raw, raw_bytes);

    return ZSTD_isError(n) ? 0 : n;
}

/* The same, by the way that needs the least memory if another fails. */
static size_t pack_somehow(const struct ml_event_packer *p, enum ml_packer_way way,
                           const uint8_t *raw, size_t raw_bytes, uint8_t *out)
{
    size_t n = pack_frame(p->zstd[way], raw, raw_bytes, out);

    return n > 0 || way == ML_PACK_MATCHES
               ? n
               : pack_frame(p->zstd[ML_PACK_MATCHES], raw, raw_bytes, out);
}

/* Tries all ways. One that fails, for which a longer search may lack memory, is not the best. */
static enum ml_packer_way best_way(struct ml_event_packer *p, bool may_search, const uint8_t *raw,
                                   size_t raw_bytes, uint8_t *out)
{
    enum ml_packer_way way = ML_PACK_MATCHES;
    size_t least = pack_frame(p->zstd[way], raw, raw_bytes, out), n;

    /* Planes of zeros, and those that repeat themselves, need no second try. */
    if (least < raw_bytes / 32)
        return way;
    n = pack_frame(p->zstd[ML_PACK_CODES], raw, raw_bytes, out);
    if (n > 0 && n < least) {
        way = ML_PACK_CODES;
        least = n;
    }
    if (!may_search)
        return way;
    n = pack_frame(p->zstd[ML_PACK_SEARCHES], raw, raw_bytes, out);
    return n > 0 && n < least - least / SEARCH_SAVES ? ML_PACK_SEARCHES : way;
}

static void choose(struct ml_event_packer *p, bool may_search, const struct planes *planes,
                   uint8_t *out)
{
    for (int i = 0; i < planes->count; i++) {
        size_t bytes = (size_t)(planes->starts[i + 1] - planes->starts[i]);

        p->ways[planes->numbers[i]] =
            (uint8_t)best_way(p, may_search, planes->starts[i], bytes, out);
    }
}

static uint8_t way_of(const struct ml_event_packer *p, bool may_search, const struct planes *planes,
                      int plane)
{
    uint8_t way = p->ways[planes->numbers[plane]];

    return way == ML_PACK_SEARCHES && !may_search ? ML_PACK_MATCHES : way;
}

/* A plane that is coded is a frame by itself, with its own codes. */
static size_t pack_planes(struct ml_event_packer *p, bool may_search, const struct planes *planes,
                          uint8_t *out)
{
    size_t all = 0, n;

    for (int i = 0, next; i < planes->count; i = next) {
        uint8_t way = way_of(p, may_search, planes, i);

        next = i + 1;
        while (way != ML_PACK_CODES && next < planes->count &&
               way_of(p, may_search, planes, next) == way)
            next++;
        n = pack_somehow(p, way, planes->starts[i],
                         (size_t)(planes->starts[next] - planes->starts[i]), out + all);
        if (!n)
            return 0;
        all += n;
    }
    return all;
}

size_t ml_event_packer_pack(struct ml_event_packer *p, bool may_search, const uint8_t *raw,
                            size_t raw_bytes, uint8_t *out)
{
    struct planes planes;

    if (ml_load_u32(raw + 4 * ML_COL_KINDS) < SPLIT_EVENTS_MIN)
        return pack_somehow(p, may_search ? ML_PACK_SEARCHES : ML_PACK_MATCHES, raw, raw_bytes,
                            out);
    find_planes(raw, &planes);
    if (p->blocks++ % TRIAL_BLOCKS == 0)
        choose(p, may_search, &planes, out);
    return pack_planes(p, may_search, &planes, out);
}
