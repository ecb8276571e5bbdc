/* trace_salvage.c: which of the listed events blocks can be read to their end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "trace_impl.h"

#include <errno.h>
#include <stdlib.h>

#define BATCH_EVENTS 256

struct sieve {
    struct ml_decoder decoder;
    struct ml_event events[BATCH_EVENTS];
};

static int try_events(struct sieve *s, struct ml_block_reader *r, const struct ml_index_entry *e)
{
    int n = ml_block_open_events(r, e, &s->decoder);

    if (n)
        return n;
    while ((n = ml_decoder_next(&s->decoder, s->events, BATCH_EVENTS)) > 0)
        ;
    return n ? -EBADMSG : 0;
}

int ml_trace_sift(struct ml_trace *t, struct ml_block_reader *r, struct ml_error *err)
{
    struct sieve *s = malloc(sizeof(*s));
    size_t kept = 0;
    int code = s ? 0 : ml_error_set(err, -ENOMEM, "%s: not enough memory to open it", t->path);

    for (size_t i = 0; !code && i < t->blocks.len; i++) {
        struct ml_index_entry e = t->blocks.items[i];
        int failure = e.type == ML_BLOCK_EVENTS ? try_events(s, r, &e) : 0;

        if (!failure)
            t->blocks.items[kept++] = e;
        else if (ml_trace_may_pass(t, failure))
            ml_trace_count_damage(t, e.type, e.events);
        else
            code = ml_trace_block_error(t, e.offset, failure, r->reason, err);
    }
    if (!code)
        t->blocks.len = kept;
    free(s);
    return code;
}
