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

#define POOR_MAX 8
#define REST_NS UINT64_C(10000000000)

static bool put_at(int fd, const void *bytes, size_t len, uint64_t offset)
{
    return pwrite(fd, bytes, len, (off_t)offset) == (ssize_t)len;
}

int ml_net_publisher_init(struct ml_net_publisher *p)
{
    const uint32_t start[] = {ML_NET_BOARD_MAGIC, ML_NET_BOARD_VERSION};

    *p = (struct ml_net_publisher){.position = ML_NET_BOARD_DATA};
    p->fd = memfd_create(ML_NET_BOARD_NAME, MFD_CLOEXEC);
    if (p->fd < 0)
        return -errno;
    if (ftruncate(p->fd, ML_NET_BOARD_DATA) == 0 && put_at(p->fd, start, sizeof(start), 0))
        return 0;
    ml_net_publisher_release(p);
    return -ENOMEM;
}

void ml_net_publisher_release(struct ml_net_publisher *p)
{
    if (p->fd >= 0)
        close(p->fd);
    ml_net_maker_free(p->maker);
    ml_net_definitions_release(&p->definitions);
    *p = (struct ml_net_publisher){.fd = -1};
}

bool ml_net_publisher_is_on(const struct ml_net_publisher *p)
{
    return p->maker && ml_net_maker_is_on(p->maker);
}

/* ---- Followers ----------------------------------------------------------------- */

struct wishes {
    uint64_t wanted_ns, wanted_classes_ns, asked_ns;
};

static struct wishes read_wishes(const struct ml_net_publisher *p)
{
    struct wishes w = {0};

    if (p->fd < 0 ||
        pread(p->fd, &w, sizeof(w), offsetof(struct ml_net_board, wanted_ns)) != (ssize_t)sizeof(w))
        w = (struct wishes){0};
    return w;
}

static bool is_recent(uint64_t wanted_ns, uint64_t now)
{
    return wanted_ns > 0 && now - ml_min_u64(now, wanted_ns) < ML_NET_WANTED_NS;
}

/* A follower that was stopped for a moment finds the last nets here. One that was stopped for
 * longer reads the trace from its start, also if the series goes on. */
void ml_net_publisher_rest(struct ml_net_publisher *p)
{
    uint64_t now = ml_clock_ns(CLOCK_MONOTONIC);
    struct wishes w;

    if (!p->has_nets || now - p->put_ns < 2 * ML_NET_WANTED_NS ||
        ftruncate(p->fd, ML_NET_BOARD_DATA))
        return;
    p->has_nets = false;
    p->position = ML_NET_BOARD_DATA;
    w = read_wishes(p);
    if (ml_net_publisher_is_on(p) && is_recent(w.wanted_ns, now))
        return;
    ml_net_maker_free(p->maker);
    p->maker = NULL;
}

/* ---- Nets ------------------------------------------------------------------------ */

static bool put_part(const struct ml_net_publisher *p, const void *part, size_t len, uint64_t *at,
                     uint64_t *sum)
{
    if (len == 0)
        return true;
    *sum = XXH3_64bits_withSeed(part, len, *sum);
    *at += len;
    return put_at(p->fd, part, len, *at - len);
}

static void put_net(struct ml_net_publisher *p, const struct ml_net *net,
                    const struct ml_net_key *key)
{
    const struct ml_net_head *h = &net->head;
    struct ml_net_entry entry = {.key = *key, .bytes = ml_net_bytes(h)};
    uint64_t at;

    if (p->position + entry.bytes > ML_NET_BOARD_END)
        p->position = ML_NET_BOARD_DATA;
    entry.position = at = p->position;
    p->has_nets = true;
    p->put_ns = ml_clock_ns(CLOCK_MONOTONIC);
    if (!put_part(p, h, sizeof(*h), &at, &entry.sum) ||
        !put_part(p, net->steps, h->steps * sizeof(*net->steps), &at, &entry.sum) ||
        !put_part(p, net->kept, h->kept * sizeof(*net->kept), &at, &entry.sum) ||
        !put_part(p, net->groups, h->groups * sizeof(*net->groups), &at, &entry.sum) ||
        !put_part(p, net->given, h->given * sizeof(*net->given), &at, &entry.sum) ||
        !put_part(p, net->visits, h->visits * sizeof(*net->visits), &at, &entry.sum))
        return;
    p->position = at;
    (void)put_at(p->fd, &entry, sizeof(entry),
                 offsetof(struct ml_net_board, entries) + p->next_entry * sizeof(entry));
    p->next_entry = (p->next_entry + 1) % ML_NET_BOARD_ENTRIES;
}

void ml_net_publish_end(struct ml_net_publisher *p, const struct ml_net_key *key)
{
    struct ml_net net;

    ml_net_end(p->maker, key->events, &net);
    put_net(p, &net, key);
}

/* Nets with most of the events are no help. A new series may choose another space, or find the
 * program in another state. */
static void judge(struct ml_net_publisher *p, const struct ml_net *net, uint64_t now)
{
    p->poor = net->head.kept > net->head.events / 2 ? p->poor + 1 : 0;
    if (p->poor == POOR_MAX)
        p->rest_to_ns = now + REST_NS;
}

static void put_next(struct ml_net_publisher *p, const struct ml_encoder *e,
                     const struct ml_net_key *key, const struct wishes *w, uint64_t now)
{
    const struct ml_net_begin begin = {.number = now,
                                       .classes = is_recent(w->wanted_classes_ns, now)};
    struct ml_net net;

    if (!ml_net_make(p->maker, e, &begin, &net))
        return;
    put_net(p, &net, key);
    judge(p, &net, now);
}

static void begin(struct ml_net_publisher *p, const struct ml_encoder *e,
                  const struct ml_net_key *key, const struct wishes *w, uint64_t now)
{
    if (!p->maker)
        p->maker = ml_net_maker_new(&p->definitions);
    if (!p->maker)
        return;
    p->served_ns = w->asked_ns;
    p->poor = 0;
    put_next(p, e, key, w, now);
}

void ml_net_publish(struct ml_net_publisher *p, const struct ml_encoder *e,
                    const struct ml_net_key *key, bool may_begin)
{
    uint64_t now = ml_clock_ns(CLOCK_MONOTONIC);
    struct wishes w = read_wishes(p);
    bool wanted = is_recent(w.wanted_ns, now);

    if (!ml_net_publisher_is_on(p)) {
        if (wanted && may_begin && w.asked_ns != p->served_ns && now >= p->rest_to_ns)
            begin(p, e, key, &w, now);
        else
            ml_net_publisher_rest(p);
    } else if (!wanted || w.asked_ns != p->served_ns || p->poor == POOR_MAX) {
        ml_net_publish_end(p, key);
    } else {
        put_next(p, e, key, &w, now);
    }
}
