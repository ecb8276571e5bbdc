/* fuzz_nets.c: any bytes as the nets of a board (net_board.h), which a follower reads from a file
 * in memory of another process. It takes them or reports that they contradict the recording, and
 * what it then shows is possible.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "each_event.h"
#include "following_classes.h"
#include "net_read.h"
#include "net_training.h"
#include "replay_net.h"

static struct {
    uint64_t read, taken, refused;
} nets;

void fuzz_tell(bool at_end)
{
    (void)at_end;
    printf("%" PRIu64 " nets read, %" PRIu64 " taken, %" PRIu64 " contradicted the recording\n",
           nets.read, nets.taken, nets.refused);
}

/* ---- A follower ------------------------------------------------------------------ */

struct follower {
    struct ml_replay replay;
    struct ml_following_classes *classes; /* NULL: it does not classify */
    struct ml_net_series series;
    uint64_t fed;
};

static int feed(void *ctx, const struct ml_event *event)
{
    struct follower *f = ctx;

    if (f->fed++ >= NET_FIRST_EVENTS)
        return 0;
    FUZZ_REQUIRE(ml_replay_feed(&f->replay, event) == 0);
    if (f->classes)
        FUZZ_REQUIRE(ml_following_classes_feed(f->classes, event, 1) == 0);
    return 0;
}

static void begin(struct follower *f, const struct ml_trace *trace, bool classes)
{
    struct ml_error err = {0};

    *f = (struct follower){0};
    FUZZ_REQUIRE(ml_replay_init(&f->replay, trace) == 0);
    if (classes)
        FUZZ_REQUIRE(ml_following_classes_new(trace, &f->classes) == 0);
    FUZZ_REQUIRE(ml_each_event(trace, feed, f, &err) == 0);
}

static void end(struct follower *f)
{
    ml_following_classes_free(f->classes);
    ml_replay_release(&f->replay);
    ml_net_series_release(&f->series);
}

static void look(struct follower *f)
{
    size_t cursor = 0, count = f->replay.blocks.len;
    struct ml_following_class *classes = calloc(count ? count : 1, sizeof(*classes));
    const struct ml_block *block;

    while ((block = ml_replay_next(&f->replay, true, &cursor)))
        FUZZ_REQUIRE(block->space < f->replay.spaces.len);
    FUZZ_REQUIRE(classes);
    if (f->classes)
        FUZZ_REQUIRE(ml_following_classes_now(f->classes, classes, count) == 0);
    for (size_t i = 0; i < count; i++)
        FUZZ_REQUIRE(classes[i].category < ML_CATEGORIES);
    free(classes);
}

/* @return whether the follower goes on */
static bool take(struct follower *f, const struct ml_net *net)
{
    int r;

    if (!ml_replay_takes_net(&f->replay, &f->series, net) ||
        (f->classes && !ml_following_classes_take_net(f->classes, net)))
        return false;
    r = ml_replay_feed_net(&f->replay, &f->series, net);
    if (r == 0 && f->classes)
        r = ml_following_classes_feed_net(f->classes, net);
    FUZZ_REQUIRE(r == 0 || r == -EBADMSG);
    nets.taken += r == 0;
    nets.refused += r != 0;
    if (r == 0)
        look(f);
    return r == 0;
}

/* ---- The board --------------------------------------------------------------------- */

static uint64_t sum_of(const struct ml_net_head *h, const uint8_t *bytes)
{
    const size_t parts[] = {sizeof(*h),
                            h->steps * sizeof(struct ml_net_step),
                            h->kept * sizeof(struct ml_event),
                            h->groups * sizeof(struct ml_net_group),
                            h->given * sizeof(struct ml_net_block),
                            h->visits * sizeof(struct ml_net_visit)};
    uint64_t sum = 0;

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (parts[i] > 0)
            sum = XXH3_64bits_withSeed(bytes, parts[i], sum);
        bytes += parts[i];
    }
    return sum;
}

/* Puts the next net of the input on the board, with a right checksum. A length that the input does
 * not have is one that the follower must notice.
 * @return the bytes that it has */
static size_t put_next(struct ml_net_reader *reader, const uint8_t *data, size_t len,
                       struct ml_index_entry *ret)
{
    struct ml_net_entry *entry = &reader->board.entries[0];
    struct ml_net_head head;
    uint64_t bytes;

    memcpy(&head, data, sizeof(head));
    bytes = ml_net_bytes(&head);
    *ret = (struct ml_index_entry){.offset = 4096, .events = head.events, .stored_bytes = 100};
    *entry =
        (struct ml_net_entry){.key = {.offset = 4096, .events = head.events, .stored_bytes = 100},
                              .position = ML_NET_BOARD_DATA,
                              .bytes = bytes};
    if (bytes > 0 && bytes <= len)
        entry->sum = sum_of(&head, data);
    else
        bytes = len;
    FUZZ_REQUIRE(ftruncate(reader->fd, (off_t)(ML_NET_BOARD_DATA + bytes)) == 0);
    FUZZ_REQUIRE(pwrite(reader->fd, data, bytes, ML_NET_BOARD_DATA) == (ssize_t)bytes);
    return (size_t)bytes;
}

static void follow(const struct ml_trace *trace, struct ml_net_reader *reader, const uint8_t *data,
                   size_t len, bool classes)
{
    struct ml_index_entry block;
    struct follower f;
    struct ml_net net;
    bool goes_on = true;

    begin(&f, trace, classes);
    while (goes_on && len >= sizeof(struct ml_net_head)) {
        size_t bytes = put_next(reader, data, len, &block);

        goes_on = ml_net_read(reader, &block, &net);
        nets.read += goes_on;
        goes_on = goes_on && take(&f, &net);
        data += bytes;
        len -= bytes;
    }
    end(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static struct ml_trace *traces[NET_TRAININGS];
    static struct ml_net_reader reader;
    struct ml_net_head head;
    uint64_t which;

    if (len < sizeof(head))
        return 0;
    memcpy(&head, data, sizeof(head));
    which = head.series % NET_TRAININGS;
    if (!traces[which])
        FUZZ_REQUIRE(net_training_open((enum net_training)which, &traces[which]) == 0);
    if (reader.board.magic == 0) {
        ml_net_reader_init(&reader);
        reader.board.magic = ML_NET_BOARD_MAGIC;
        reader.board.version = ML_NET_BOARD_VERSION;
        reader.fd = memfd_create("board", MFD_CLOEXEC);
    }
    FUZZ_REQUIRE(reader.fd >= 0);
    reader.looked = true;
    follow(traces[which], &reader, data, len, false);
    follow(traces[which], &reader, data, len, true);
    return 0;
}
