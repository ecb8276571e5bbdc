/* handed_files.c: see handed_files.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "handed_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nanoseconds.h"
#include "passed_descriptor.h"
#include "ring.h"

#define TAKEN_IN_A_ROUND 64 /* connections: any process can make as many as it likes */
#define KEPT_OF_ALL 512
#define KEPT_OF_ONE 64
#define SILENT_NS UINT64_C(1000000000) /* for a connection that has sent nothing yet */

void ml_handed_init(struct ml_handed_files *h, const int listeners[2])
{
    *h = (struct ml_handed_files){.listeners = listeners};
}

static void drop(struct ml_handed *one)
{
    if (one->socket >= 0)
        close(one->socket);
    if (one->fd >= 0)
        close(one->fd);
    free(one->hello);
}

void ml_handed_release(struct ml_handed_files *h)
{
    for (size_t i = 0; i < h->all.len; i++)
        drop(&h->all.items[i]);
    ml_vec_release(&h->all);
}

/* ---- Receiving ---------------------------------------------------------- */

static size_t kept_of(const struct ml_handed_files *h, uint32_t pid)
{
    size_t n = 0;

    for (size_t i = 0; i < h->all.len; i++)
        n += h->all.items[i].pid == pid;
    return n;
}

static bool accept_one(struct ml_handed_files *h, int listener)
{
    struct ml_handed one = {.fd = -1};
    struct ucred peer = {0};
    socklen_t bytes = sizeof(peer);

    one.since_ns = ml_clock_ns(CLOCK_MONOTONIC);
    one.socket = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (one.socket < 0)
        return false;
    if (!getsockopt(one.socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes))
        one.pid = (uint32_t)peer.pid;
    if (h->all.len >= KEPT_OF_ALL || kept_of(h, one.pid) >= KEPT_OF_ONE ||
        ml_vec_push(&h->all, one))
        drop(&one);
    return true;
}

union message {
    struct ml_handed_file file;
    struct ml_hello hello;
};

/* @return whether it is one, from a recorder of this version */
static bool note_message(struct ml_handed *one, const union message *body, size_t bytes)
{
    static_assert(offsetof(struct ml_hello, version) == offsetof(struct ml_handed_file, version),
                  "both begin alike");

    if (bytes < sizeof(body->file) || body->file.magic != ML_SHARED_MAGIC ||
        body->file.version != ML_SHARED_VERSION || one->fd < 0)
        return false;
    one->number = body->file.number;
    if (bytes == sizeof(body->file))
        return true;
    one->hello = bytes == sizeof(body->hello) ? malloc(sizeof(*one->hello)) : NULL;
    if (one->hello)
        *one->hello = body->hello;
    return one->hello;
}

/* False: nothing more will arrive. */
static bool receive(struct ml_handed *one)
{
    union message body;
    struct iovec part = {&body, sizeof(body)};
    alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
    struct msghdr msg = {.msg_iov = &part,
                         .msg_iovlen = 1,
                         .msg_control = control,
                         .msg_controllen = sizeof(control)};
    ssize_t n;

    if (one->socket < 0)
        return true;
    n = recvmsg(one->socket, &msg, MSG_CMSG_CLOEXEC);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c))
        ml_passed_descriptor(c, &one->fd);
    close(one->socket);
    one->socket = -1;
    return note_message(one, &body, (size_t)n);
}

static void remove_at(struct ml_handed_files *h, size_t i)
{
    memmove(&h->all.items[i], &h->all.items[i + 1], (h->all.len - i - 1) * sizeof(*h->all.items));
    h->all.len--;
}

static void drop_at(struct ml_handed_files *h, size_t i)
{
    drop(&h->all.items[i]);
    remove_at(h, i);
}

void ml_handed_receive(struct ml_handed_files *h)
{
    for (int k = 0; k < 2; k++) {
        for (int i = 0;
             h->listeners[k] >= 0 && i < TAKEN_IN_A_ROUND && accept_one(h, h->listeners[k]); i++)
            continue;
    }
    for (size_t i = 0; i < h->all.len;) {
        if (receive(&h->all.items[i]))
            i++;
        else
            drop_at(h, i);
    }
}

bool ml_handed_take_hello(struct ml_handed_files *h, uint64_t key, struct ml_hello *ret,
                          uint32_t *ret_pid, int *ret_fd)
{
    for (size_t i = 0; i < h->all.len; i++) {
        struct ml_handed *one = &h->all.items[i];
        if (!one->hello || one->hello->key != key)
            continue;
        *ret = *one->hello;
        *ret_pid = one->pid;
        *ret_fd = one->fd;
        free(one->hello);
        remove_at(h, i);
        return true;
    }
    return false;
}

static bool is_new(const struct ml_handed *one)
{
    return one->socket >= 0 && ml_clock_ns(CLOCK_MONOTONIC) - one->since_ns < SILENT_NS;
}

void ml_handed_keep(struct ml_handed_files *h, bool (*is_target)(void *ctx, uint32_t pid),
                    void *ctx)
{
    for (size_t i = 0; i < h->all.len;) {
        const struct ml_handed *one = &h->all.items[i];
        if (!one->hello && (is_new(one) || is_target(ctx, one->pid)))
            i++;
        else
            drop_at(h, i);
    }
}

int ml_handed_take(struct ml_handed_files *h, uint32_t pid, uint32_t number)
{
    for (size_t i = h->all.len; i-- > 0;) {
        struct ml_handed *one = &h->all.items[i];
        int fd = one->fd;
        if (one->pid != pid || one->socket >= 0 || one->hello || one->number != number)
            continue;
        remove_at(h, i);
        return fd;
    }
    return -1;
}
