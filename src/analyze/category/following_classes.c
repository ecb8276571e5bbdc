/* following_classes.c: see following_classes.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "following_classes.h"

#include <errno.h>
#include <stdlib.h>

#include "following_state.h"

int ml_following_classes_new(const struct ml_trace *trace, struct ml_following_classes **ret)
{
    struct ml_following_classes *f = calloc(1, sizeof(*f));
    int r = f ? ml_classifier_learn(&f->classifier, trace) : -ENOMEM;

    if (r == 0)
        r = ml_classifier_begin(&f->classifier, trace);
    if (r < 0) {
        ml_following_classes_free(f);
        return r;
    }
    *ret = f;
    return 0;
}

void ml_following_classes_free(struct ml_following_classes *f)
{
    if (!f)
        return;
    ml_classifier_release(&f->classifier);
    free(f);
}

bool ml_classes_are_needed(const struct ml_trace *trace, bool *ret_failed)
{
    struct ml_classifier c = {0};
    bool needed;

    *ret_failed = ml_scope_facts_init(trace, &c.facts) < 0;
    needed = !*ret_failed && !ml_classifier_is_needless(&c, trace);
    ml_scope_facts_release(&c.facts);
    return needed;
}

int ml_following_classes_learn(struct ml_following_classes *f)
{
    return ml_classifier_learn(&f->classifier, f->classifier.replay.trace);
}

int ml_following_classes_feed(struct ml_following_classes *f, const struct ml_event *events,
                              size_t count)
{
    int r = 0;

    for (size_t i = 0; i < count && r == 0; i++)
        r = ml_classifier_feed(&f->classifier, &events[i]);
    return r;
}

struct ml_replay *ml_following_classes_replay(struct ml_following_classes *f)
{
    return &f->classifier.replay;
}

int ml_following_classes_now(struct ml_following_classes *f, struct ml_following_class *ret,
                             size_t count)
{
    struct ml_classifier *c = &f->classifier;
    const struct ml_replay *replay = &c->replay;
    uint8_t *categories = calloc(replay->blocks.len ? replay->blocks.len : 1, 1);

    if (!categories)
        return -ENOMEM;
    c->kept.undecided.len = 0;
    c->by_entry = true;
    for (size_t i = 0; i < replay->blocks.len; i++)
        if (replay->blocks.items[i].live)
            categories[i] =
                ml_classifier_category(c, &replay->blocks.items[i], &c->births.items[i], NULL);
    c->by_entry = false;
    ml_kept_blocks_decide(&c->kept, c->last_pass, categories);
    c->kept.undecided.len = 0;
    for (size_t i = 0; i < count && i < replay->blocks.len; i++)
        ret[i] = (struct ml_following_class){ml_block_counted_label(&replay->blocks.items[i]),
                                             categories[i]};
    free(categories);
    return c->failed;
}
