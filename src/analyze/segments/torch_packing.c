/* torch_packing.c: see torch_packing.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "torch_packing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compiler.h"
#include "cuda_spaces.h"
#include "event.h"

#define UNIT UINT64_C(512) /* every block is rounded up to this */
#define UNITS(bytes) ((bytes) / UNIT)
#define COUNTS UNITS(ML_TORCH_LARGE_BLOCK)
#define ROOMS (UNITS(ML_TORCH_LARGE_SEGMENT) + 1)

static uint64_t round_up(uint64_t bytes, uint64_t to)
{
    return bytes > UINT64_MAX - (to - 1) ? UINT64_MAX / to * to : (bytes + to - 1) / to * to;
}

bool ml_torch_is_caching(const char *device, const char *space)
{
    size_t len = strlen(ML_TORCH_SPACE_NAME);

    return strncmp(device, ML_CUDA_DEVICE_PREFIX, strlen(ML_CUDA_DEVICE_PREFIX)) == 0 &&
           strncmp(space, ML_TORCH_SPACE_NAME, len) == 0 &&
           (space[len] == '\0' || space[len] == ' ');
}

uint64_t ml_torch_rounded_bytes(uint64_t request)
{
    return round_up(request ? request : 1, UNIT);
}

uint64_t ml_torch_segment_bytes(uint64_t request)
{
    if (request <= ML_TORCH_SMALL_BLOCK)
        return ML_TORCH_SMALL_SEGMENT;
    if (request < ML_TORCH_LARGE_BLOCK)
        return ML_TORCH_LARGE_SEGMENT;
    return round_up(request, ML_TORCH_SMALL_SEGMENT);
}

uint64_t ml_torch_largest_request(uint64_t driver_bytes)
{
    uint64_t whole = driver_bytes / ML_TORCH_SMALL_SEGMENT * ML_TORCH_SMALL_SEGMENT;

    if (whole >= ML_TORCH_LARGE_BLOCK)
        return whole;
    return whole > 0 ? ML_TORCH_SMALL_BLOCK : 0;
}

uint64_t ml_torch_hole_serves(uint64_t hole, uint64_t segment_bytes)
{
    return segment_bytes == ML_TORCH_SMALL_SEGMENT ? ml_min_u64(hole, ML_TORCH_SMALL_BLOCK) : hole;
}

int ml_torch_packing_init(struct ml_torch_packing *packing)
{
    *packing = (struct ml_torch_packing){
        .counts = calloc(COUNTS, sizeof(*packing->counts)),
        .rooms = calloc(ROOMS, sizeof(*packing->rooms)),
    };
    return packing->counts && packing->rooms ? 0 : -ENOMEM;
}

void ml_torch_packing_release(struct ml_torch_packing *packing)
{
    free(packing->counts);
    free(packing->rooms);
    *packing = (struct ml_torch_packing){0};
}

void ml_torch_packing_add(struct ml_torch_packing *packing, uint64_t bytes)
{
    uint64_t rounded = ml_torch_rounded_bytes(bytes);

    if (rounded <= ML_TORCH_SMALL_BLOCK)
        packing->small_bytes = ml_sum_u64(packing->small_bytes, rounded);
    else
        packing->large_bytes = ml_sum_u64(packing->large_bytes, rounded);
    if (rounded < ML_TORCH_LARGE_BLOCK)
        packing->counts[UNITS(rounded)]++;
    else
        packing->own_segments = ml_sum_u64(packing->own_segments, ml_torch_segment_bytes(rounded));
}

/* Puts `left` blocks of one size into segments with room, the fullest first. A segment that takes
 * a block has less room than before, so it takes the next one too. */
static uint64_t fill_rooms(uint64_t *rooms, uint64_t top, uint64_t units, uint64_t left)
{
    for (uint64_t room = units; room <= top && left > 0; room++) {
        uint64_t each = room / units, full = ml_min_u64(rooms[room], left / each);

        rooms[room] -= full;
        rooms[room - each * units] += full;
        left -= full * each;
        if (left > 0 && left < each && rooms[room] > 0) {
            rooms[room]--;
            rooms[room - left * units]++;
            left = 0;
        }
    }
    return left;
}

/* Segments for the blocks of `from` to `to` units. */
static uint64_t lay_out(struct ml_torch_packing *packing, uint64_t from, uint64_t to,
                        uint64_t segment)
{
    uint64_t segments = 0, top = UNITS(segment);

    memset(packing->rooms, 0, ROOMS * sizeof(*packing->rooms));
    for (uint64_t units = to; units >= from; units--) {
        uint64_t left = fill_rooms(packing->rooms, top, units, packing->counts[units]);
        uint64_t each = top / units;

        segments += left / each + (left % each > 0);
        packing->rooms[top - each * units] += left / each;
        if (left % each > 0)
            packing->rooms[top - left % each * units]++;
    }
    return segments;
}

uint64_t ml_torch_packed_bytes(struct ml_torch_packing *packing)
{
    uint64_t small = lay_out(packing, 1, UNITS(ML_TORCH_SMALL_BLOCK), ML_TORCH_SMALL_SEGMENT);
    uint64_t large =
        lay_out(packing, UNITS(ML_TORCH_SMALL_BLOCK) + 1, COUNTS - 1, ML_TORCH_LARGE_SEGMENT);

    return ml_sum_u64(packing->own_segments,
                      ml_sum_u64(small * ML_TORCH_SMALL_SEGMENT, large * ML_TORCH_LARGE_SEGMENT));
}

uint64_t ml_torch_expandable_bytes(const struct ml_torch_packing *packing)
{
    return ml_sum_u64(round_up(packing->small_bytes, ML_TORCH_SMALL_SEGMENT),
                      round_up(packing->large_bytes, ML_TORCH_LARGE_SEGMENT));
}
