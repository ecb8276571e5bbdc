/* set_shape.c: see set_shape.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "set_shape.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "address_room.h"
#include "compiler.h"
#include "recorder.h"
#include "sys.h"

/* Rings in the first set; each further set has twice as many as the one before. */
#define FIRST_COUNT 8
#define DOUBLINGS_MAX 6

/* Under a limit, rings first become smaller, down to this size, and then fewer. */
#define LEAST_RING_BYTES (16u << 10)

/* Shares of the address space that was left before the first set: all sets together, of which the
 * first takes half at most; and one set whose rings have the size that the user asked for. */
#define ALL_SHARES 48
#define ASKED_SHARES 8

/* One step down; false: the shape is the smallest. A size that the user asked for stays. */
static bool make_smaller(struct ml_set_shape *s, bool asked)
{
    if (!asked && s->ring_bytes > LEAST_RING_BYTES)
        s->ring_bytes /= 2;
    else if (s->ring_count > 1)
        s->ring_count /= 2;
    else
        return false;
    return true;
}

static void measure(struct ml_set_shape *s, bool limited)
{
    s->mapped_bytes = limited ? ml_ringset_reply_offset(s->ring_bytes, s->ring_count)
                              : ml_ringset_bytes(s->ring_bytes, s->ring_count);
    s->taken_bytes = s->mapped_bytes + s->ring_count * sizeof(struct ml_writer);
}

static uint64_t share_of(uint64_t room, size_t taken_bytes, bool asked)
{
    uint64_t all = (room + taken_bytes) / ALL_SHARES;

    if (asked)
        return room / ASKED_SHARES;
    if (!taken_bytes)
        return all / 2;
    return all > taken_bytes ? all - taken_bytes : 0;
}

bool ml_set_shape_choose(uint32_t number, size_t taken_bytes, struct ml_set_shape *ret)
{
    uint64_t room = ml_address_room();
    bool limited = room != UINT64_MAX;
    bool asked = ml_session->ring_asked;
    struct ml_set_shape s = {
        .ring_bytes = ml_ring_bytes,
        .ring_count = (uint32_t)ml_min_u64(ml_ring_count, (uint64_t)FIRST_COUNT
                                                              << ml_min_u64(number, DOUBLINGS_MAX)),
    };

    measure(&s, limited);
    while (limited && s.taken_bytes > share_of(room, taken_bytes, asked)) {
        if (!make_smaller(&s, asked))
            return false;
        measure(&s, limited);
    }
    *ret = s;
    return true;
}

/* An old size of 0 makes mremap create a second view of shared memory. This one begins with the
 * last mapped page and extends beyond it: there is no descriptor to map the file with. */
bool ml_set_read_reply(const struct ml_ringset *set, const struct ml_set_shape *shape, char *to,
                       size_t bytes)
{
    size_t reply = ml_ringset_reply_offset(shape->ring_bytes, shape->ring_count);
    size_t view_bytes = ML_PAGE_BYTES + bytes;
    long view;

    if (shape->mapped_bytes > reply) {
        memcpy(to, (const char *)set + reply, bytes);
        return true;
    }
    view = syscall(SYS_mremap, (const char *)set + reply - ML_PAGE_BYTES, 0L, view_bytes,
                   (long)MREMAP_MAYMOVE, 0L);
    if (view == -1)
        return false;
    memcpy(to, (const char *)view + ML_PAGE_BYTES, bytes);
    ml_sys_unmap((void *)view, view_bytes);
    return true;
}
