/* make_net_seed.c: writes the nets of small recordings, from which fuzzing starts.
 *
 *     make_net_seed tests/fuzz/corpus/nets
 *
 * A file has the nets of one series, one after the other, as on a board (net_board.h). Its number
 * is that of the recording. The version in a name is the board's: nets are never stored, so that
 * the files of older versions need not stay.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>

#include "encode.h"
#include "each_event.h"
#include "net_board.h"
#include "net_maker.h"
#include "net_training.h"

static const char *const names[NET_TRAININGS] = {"gpu", "malloc"};

struct writing {
    struct ml_encoder *encoder;
    struct ml_net_maker *maker;
    struct ml_net_begin begin;
    uint64_t events;
    FILE *to;
};

static void put(FILE *to, const void *part, size_t bytes)
{
    if (bytes > 0 && fwrite(part, bytes, 1, to) != 1)
        perror("make_net_seed");
}

static void write_net(FILE *to, const struct ml_net *net)
{
    const struct ml_net_head *h = &net->head;

    put(to, h, sizeof(*h));
    put(to, net->steps, h->steps * sizeof(*net->steps));
    put(to, net->kept, h->kept * sizeof(*net->kept));
    put(to, net->groups, h->groups * sizeof(*net->groups));
    put(to, net->given, h->given * sizeof(*net->given));
    put(to, net->visits, h->visits * sizeof(*net->visits));
}

static void end_block(struct writing *w)
{
    static uint8_t out[ML_EVENTS_RAW_MAX];
    struct ml_block_header header;
    struct ml_net net;

    ml_encoder_write(w->encoder, out, &header);
    if (ml_net_make(w->maker, w->encoder, &w->begin, &net))
        write_net(w->to, &net);
    ml_encoder_init(w->encoder);
}

static int take(void *ctx, const struct ml_event *event)
{
    struct writing *w = ctx;

    if (w->events++ < NET_FIRST_EVENTS)
        return 0;
    ml_encoder_add(w->encoder, event);
    if (w->encoder->events == NET_BLOCK_EVENTS)
        end_block(w);
    return 0;
}

/* What the collector knows of the definitions. */
static int learn(const struct ml_trace *trace, enum net_training which,
                 struct ml_net_definitions *ret)
{
    int r = 0;

    for (uint32_t i = 0; r == 0 && i < ml_trace_scopes(trace); i++)
        r = ml_vec_push(&ret->parents, ml_trace_scope(trace, i)->parent);
    return r == 0 ? ml_vec_push(&ret->plain, which == NET_TRAINING_MALLOC) : r;
}

static int write_seed(enum net_training which, bool classes, const char *folder)
{
    struct ml_net_definitions definitions = {0};
    struct writing w = {.begin = {.number = which, .classes = classes}};
    struct ml_trace *trace = NULL;
    struct ml_error err = {0};
    struct ml_net end;
    char path[4096];
    int r = net_training_open(which, &trace);

    snprintf(path, sizeof(path), "%s/%s-%s%u", folder, names[which], classes ? "classes-" : "",
             ML_NET_BOARD_VERSION);
    if (r == 0)
        r = learn(trace, which, &definitions);
    w.encoder = calloc(1, sizeof(*w.encoder));
    w.maker = ml_net_maker_new(&definitions);
    w.to = fopen(path, "wb");
    if (r < 0 || !w.encoder || !w.maker || !w.to)
        return -1;
    ml_encoder_init(w.encoder);
    r = ml_each_event(trace, take, &w, &err);
    if (ml_net_maker_is_on(w.maker)) {
        ml_net_end(w.maker, NET_BLOCK_EVENTS, &end);
        write_net(w.to, &end);
    }
    if (fclose(w.to))
        r = -1;
    ml_net_maker_free(w.maker);
    ml_net_definitions_release(&definitions);
    free(w.encoder);
    ml_trace_free(trace);
    return r;
}

int main(int argc, char **argv)
{
    int r = argc == 2 ? 0 : -1;

    for (int i = 0; r == 0 && i < 2 * NET_TRAININGS; i++)
        r = write_seed((enum net_training)(i / 2), i % 2, argv[1]);
    if (r < 0)
        fputs("make_net_seed FOLDER\n", stderr);
    return r < 0;
}
