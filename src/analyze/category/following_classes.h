/* following_classes.h: the categories of the blocks that are live now, while a trace is followed.
 *
 * classify.h finds the categories of a whole trace, each block's from its allocation on. Here
 * events arrive one by one, and only live blocks matter, so that memory does not grow with the
 * number of events. The result is that of a classification of the events so far.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_FOLLOWING_CLASSES_H
#define ML_ANALYZE_FOLLOWING_CLASSES_H

#include "net_events.h"
#include "replay.h"

struct ml_following_classes;

struct ml_following_class {
    uint32_t label; /* string, 0: none */
    uint8_t category;
};

/* Whether the definitions so far have modules, phases or other names that decide categories.
 * Without them each block has the category of its label. */
bool ml_classes_are_needed(const struct ml_trace *trace, bool *ret_failed);

/* For a trace from its first event on; it must outlive the result.
 * @return 0 or -ENOMEM */
int ml_following_classes_new(const struct ml_trace *trace, struct ml_following_classes **ret);
void ml_following_classes_free(struct ml_following_classes *f);

/* Call it when the trace has new definitions of scopes. @return 0 or -ENOMEM */
int ml_following_classes_learn(struct ml_following_classes *f);

/* @return 0 or -ENOMEM */
int ml_following_classes_feed(struct ml_following_classes *f, const struct ml_event *events,
                              size_t count);

/* Whether nets can replace events here: not where an engine runs operators later. */
bool ml_following_classes_use_nets(const struct ml_following_classes *f);

/* Whether this net can: it has all that the categories of its blocks need. */
bool ml_following_classes_take_net(const struct ml_following_classes *f, const struct ml_net *net);

/* Precondition: they take it. The live table that the classes belong to gets the net, too.
 * @return 0, -ENOMEM, or -EBADMSG if the net contradicts the events so far */
int ml_following_classes_feed_net(struct ml_following_classes *f, const struct ml_net *net);

/* Its own live table. A table that got the same events has the same blocks in the same entries. */
struct ml_replay *ml_following_classes_replay(struct ml_following_classes *f);

/* The categories and labels of the live blocks, by entry of the live table, at most `count`.
 * @return 0 or -ENOMEM */
int ml_following_classes_now(struct ml_following_classes *f, struct ml_following_class *ret,
                             size_t count);

#endif
