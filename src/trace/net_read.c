/* net_read.c: see net_read.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "net_read.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "file_lock.h"
#include "io.h"
#include "nanoseconds.h"
#include "trace_impl.h"

/* A collector signs its trace, and opens the board, in its first moments. */
#define TRIES_MAX 16
#define LINK_NAME "/memfd:" ML_NET_BOARD_NAME " (deleted)"

void ml_net_reader_init(struct ml_net_reader *r)
{
    *r = (struct ml_net_reader){.fd = -1};
}

void ml_net_reader_release(struct ml_net_reader *r)
{
    if (r->fd >= 0)
        close(r->fd);
    ml_buf_release(&r->bytes);
    ml_net_reader_init(r);
}

/* ---- Finding ------------------------------------------------------------------ */

static bool leads_to_board(const char *path)
{
    char name[sizeof(LINK_NAME)];
    ssize_t n = readlink(path, name, sizeof(name));

    return n == (ssize_t)sizeof(LINK_NAME) - 1 && memcmp(name, LINK_NAME, (size_t)n) == 0;
}

/* The other process may exchange the descriptor meanwhile, and this one may be allowed to write to
 * more files. */
static int open_if_board(const char *path)
{
    char own[64];
    int fd = leads_to_board(path) ? open(path, O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) : -1;

    snprintf(own, sizeof(own), "/proc/self/fd/%d", fd);
    if (fd < 0 || leads_to_board(own))
        return fd;
    close(fd);
    return -1;
}

static int find_board(pid_t collector)
{
    char path[64];
    struct dirent *entry;
    DIR *all;
    int fd = -1;

    snprintf(path, sizeof(path), "/proc/%d/fd", (int)collector);
    all = opendir(path);
    while (all && fd < 0 && (entry = readdir(all))) {
        if (snprintf(path, sizeof(path), "/proc/%d/fd/%.20s", (int)collector, entry->d_name) > 0)
            fd = open_if_board(path);
    }
    if (all)
        closedir(all);
    return fd;
}

static void look_for_board(struct ml_net_reader *r, const struct ml_trace *t)
{
    pid_t collector = ml_file_lock_signer(t->fd);
    struct stat st;

    r->tries++;
    if (collector > 0 && fstat(t->fd, &st) == 0) {
        r->inode = (uint64_t)st.st_ino;
        r->fd = find_board(collector);
    }
}

void ml_net_reader_poll(struct ml_net_reader *r, const struct ml_trace *t, bool classes)
{
    const uint64_t now = ml_clock_ns(CLOCK_MONOTONIC);
    const uint64_t wish[] = {now, now};
    size_t len = classes ? sizeof(wish) : sizeof(*wish); /* leaves another's wish for classes */

    r->looked = false;
    if (r->fd < 0 && r->tries < TRIES_MAX)
        look_for_board(r, t);
    if (r->fd >= 0 &&
        pwrite(r->fd, wish, len, offsetof(struct ml_net_board, wanted_ns)) != (ssize_t)len) {
        close(r->fd);
        r->fd = -1;
    }
}

void ml_net_reader_ask(struct ml_net_reader *r)
{
    const uint64_t now = ml_clock_ns(CLOCK_MONOTONIC);

    if (r->fd >= 0)
        (void)!pwrite(r->fd, &now, sizeof(now), offsetof(struct ml_net_board, asked_ns));
}

/* ---- Reading ------------------------------------------------------------------ */

static const struct ml_net_entry *entry_of(struct ml_net_reader *r,
                                           const struct ml_index_entry *block)
{
    const struct ml_net_key key = {r->inode,       block->offset, block->first_ns,
                                   block->last_ns, block->events, block->stored_bytes};

    if (!r->looked && ml_pread_all(r->fd, &r->board, sizeof(r->board), 0) < 0)
        return NULL;
    r->looked = true;
    if (r->board.magic != ML_NET_BOARD_MAGIC || r->board.version != ML_NET_BOARD_VERSION)
        return NULL;
    for (size_t i = 0; i < ML_NET_BOARD_ENTRIES; i++)
        if (memcmp(&r->board.entries[i].key, &key, sizeof(key)) == 0)
            return &r->board.entries[i];
    return NULL;
}

/* The next part of a net, whose bytes are all there. */
static const void *take_part(const uint8_t **at, size_t len, uint64_t *sum)
{
    const uint8_t *part = *at;

    if (len > 0)
        *sum = XXH3_64bits_withSeed(part, len, *sum);
    *at += len;
    return part;
}

bool ml_net_read(struct ml_net_reader *r, const struct ml_index_entry *block, struct ml_net *ret)
{
    const struct ml_net_entry *entry = r->fd < 0 ? NULL : entry_of(r, block);
    struct ml_net net;
    const struct ml_net_head *h = &net.head;
    const uint8_t *at;
    uint64_t sum = 0;

    if (!entry || entry->bytes < sizeof(*h) || entry->bytes > ML_NET_BOARD_END)
        return false;
    ml_buf_clear(&r->bytes);
    if (ml_buf_reserve(&r->bytes, entry->bytes) < 0 ||
        ml_pread_all(r->fd, r->bytes.data, entry->bytes, entry->position) < 0)
        return false;
    memcpy(&net.head, r->bytes.data, sizeof(net.head));
    if (h->events != block->events || entry->bytes != ml_net_bytes(h))
        return false;
    at = r->bytes.data;
    take_part(&at, sizeof(*h), &sum);
    net.steps = take_part(&at, h->steps * sizeof(*net.steps), &sum);
    net.kept = take_part(&at, h->kept * sizeof(*net.kept), &sum);
    net.groups = take_part(&at, h->groups * sizeof(*net.groups), &sum);
    net.given = take_part(&at, h->given * sizeof(*net.given), &sum);
    net.visits = take_part(&at, h->visits * sizeof(*net.visits), &sum);
    if (sum != entry->sum || !ml_net_check(&net))
        return false;
    *ret = net;
    return true;
}
