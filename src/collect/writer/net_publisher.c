/* net_publisher.c: see net_publisher.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "net_publisher.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "nanoseconds.h"

static bool put_at(int fd, const void *bytes, size_t len, uint64_t offset)
{
    return pwrite(fd, bytes, len, (off_t)offset) == (ssize_t)len;
}

int ml_net_publisher_init(struct ml_net_publisher *p)
{
    const struct ml_net_board board = {.magic = ML_NET_BOARD_MAGIC,
                                       .version = ML_NET_BOARD_VERSION};

    *p = (struct ml_net_publisher){.position = ML_NET_BOARD_DATA};
    p->fd = memfd_create(ML_NET_BOARD_NAME, MFD_CLOEXEC);
    if (p->fd < 0)
        return -errno;
    if (put_at(p->fd, &board, sizeof(board), 0))
        return 0;
    ml_net_publisher_release(p);
    return -ENOMEM;
}

void ml_net_publisher_release(struct ml_net_publisher *p)
{
    if (p->fd >= 0)
        close(p->fd);
    free(p->maker);
    *p = (struct ml_net_publisher){.fd = -1};
}

bool ml_net_publisher_is_wanted(struct ml_net_publisher *p)
{
    uint64_t wanted_ns = 0;

    if (p->fd < 0 || pread(p->fd, &wanted_ns, sizeof(wanted_ns),
                           offsetof(struct ml_net_board, wanted_ns)) != sizeof(wanted_ns))
        return false;
    if (wanted_ns > 0 && ml_clock_ns(CLOCK_MONOTONIC) - wanted_ns < ML_NET_WANTED_NS)
        return true;
    if (p->has_nets && ftruncate(p->fd, ML_NET_BOARD_DATA) == 0) {
        p->has_nets = false;
        p->position = ML_NET_BOARD_DATA;
    }
    return false;
}

/* Without a pass over the steps: what follows the head in the file. */
static bool put_net(const struct ml_net_publisher *p, const struct ml_net *net, uint64_t *ret_sum)
{
    size_t steps = net->head.steps * sizeof(*net->steps),
           kept = net->head.kept * sizeof(*net->kept);
    uint64_t at = p->position;

    *ret_sum = XXH3_64bits(&net->head, sizeof(net->head));
    *ret_sum = XXH3_64bits_withSeed(net->steps, steps, *ret_sum);
    *ret_sum = XXH3_64bits_withSeed(net->kept, kept, *ret_sum);
    return put_at(p->fd, &net->head, sizeof(net->head), at) &&
           put_at(p->fd, net->steps, steps, at + sizeof(net->head)) &&
           put_at(p->fd, net->kept, kept, at + sizeof(net->head) + steps);
}

void ml_net_publish(struct ml_net_publisher *p, const struct ml_encoder *e,
                    const struct ml_net_key *key)
{
    struct ml_net_entry entry = {.key = *key};
    struct ml_net net;

    if (!p->maker)
        p->maker = malloc(ml_net_maker_bytes());
    if (!p->maker || !ml_net_make(p->maker, e, &net))
        return;
    entry.bytes =
        sizeof(net.head) + net.head.steps * sizeof(*net.steps) + net.head.kept * sizeof(*net.kept);
    if (p->position + entry.bytes > ML_NET_BOARD_END)
        p->position = ML_NET_BOARD_DATA;
    entry.position = p->position;
    p->has_nets = true;
    if (!put_net(p, &net, &entry.sum))
        return;
    p->position += entry.bytes;
    (void)put_at(p->fd, &entry, sizeof(entry),
                 offsetof(struct ml_net_board, entries) + p->next_entry * sizeof(entry));
    p->next_entry = (p->next_entry + 1) % ML_NET_BOARD_ENTRIES;
}
