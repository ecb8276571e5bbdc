/* help_pages.h: the pages that `memledger help` shows: one for each command, and others. They are
 * files, installed beside the command; their names are the topics.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_HELP_PAGES_H
#define ML_CLI_HELP_PAGES_H

#include "arena.h"
#include "error.h"
#include "vec.h"

struct ml_help_topic {
    const char *name;  /* "sampling" */
    const char *title; /* "Sampling", the page's heading */
};

struct ml_help_topics {
    struct ml_arena arena;
    ML_VEC(struct ml_help_topic) list;
};

/* The pages that are not about one command, in alphabetical order. None if they are not
 * installed.
 * @ret    released by ml_help_topics_release, also after a failure
 * @return 0 or negative errno */
int ml_help_topics(struct ml_help_topics *ret);
void ml_help_topics_release(struct ml_help_topics *topics);

/* Appends the page of a topic, as Markdown.
 * @return 0, -ENOENT when there is no such page, or negative with the reason in `err` */
int ml_help_page(const char *topic, struct ml_buf *out, struct ml_error *err);

#endif
