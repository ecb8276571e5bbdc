/* tbd_analysis.c: see tbd_analysis.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tbd_analysis.h"

#include <errno.h>
#include <string.h>

#define DICTIONARY "tbd"

/* Decide which of the printed totals include a keyword, besides the total of all. */
static bool is_weights(const char *keyword)
{
    return strcmp(keyword, "in_arg") == 0 || strcmp(keyword, "arg_grad") == 0;
}

static bool is_unknown(const char *keyword)
{
    return strcmp(keyword, "untagged") == 0 || strcmp(keyword, "warning!,ctx_source_unclear") == 0;
}

static void add(struct ml_tbd_total *total, uint64_t bytes)
{
    total->any = true;
    total->bytes += bytes;
}

static void add_totals(struct ml_tbd_analysis *a)
{
    for (size_t i = 0; i < a->categories.len; i++) {
        const struct ml_tbd_category *c = &a->categories.items[i];

        add(&a->all, c->bytes);
        add(is_weights(c->keyword) ? &a->weights : &a->forward, c->bytes);
        if (is_unknown(c->keyword))
            add(&a->unknown_tags, c->bytes);
        a->annotations += c->tags.len;
    }
}

/* @return NULL: out of memory */
static struct ml_tbd_category *category_of(struct ml_tbd_analysis *a,
                                           const struct ml_keyword *keyword)
{
    struct ml_tbd_category added = {
        .keyword = keyword->text,
        .name = a->dictionary.categories.items[keyword->category],
    };

    for (size_t i = 0; i < a->categories.len; i++)
        if (strcmp(a->categories.items[i].keyword, keyword->text) == 0)
            return &a->categories.items[i];
    return ml_vec_push(&a->categories, added) < 0 ? NULL
                                                  : &a->categories.items[a->categories.len - 1];
}

static int add_entry(struct ml_tbd_analysis *a, const char *tag, uint64_t bytes,
                     struct ml_buf *subject)
{
    int r = ml_dictionary_subject(&a->dictionary, tag, NULL, subject);
    int64_t id = r < 0 ? r : ml_intern_put(&a->subjects, subject->data, subject->len, NULL);
    struct ml_tbd_category *category;
    const char *text;
    int64_t keyword;

    if (id < 0)
        return (int)id;
    text = ml_intern_get(&a->subjects, (uint32_t)id, NULL);
    keyword = ml_dictionary_match(&a->dictionary, text, 0);
    if (keyword < 0)
        return ml_vec_push(&a->unknown, text);
    category = category_of(a, &a->dictionary.keywords.items[keyword]);
    if (!category)
        return -ENOMEM;
    category->bytes += bytes;
    return ml_vec_push(&category->tags, text);
}

/* Stable: equal ones keep their order. */
static int sort_descending(struct ml_tbd_analysis *a)
{
    for (uint32_t i = 0; i < a->categories.len; i++) {
        size_t at = i;

        if (ml_vec_push(&a->descending, i) < 0)
            return -ENOMEM;
        for (; at > 0 && a->categories.items[a->descending.items[at - 1]].bytes <
                             a->categories.items[i].bytes;
             at--)
            a->descending.items[at] = a->descending.items[at - 1];
        a->descending.items[at] = i;
    }
    return 0;
}

int ml_tbd_analysis(const struct ml_tag_list *list, struct ml_tbd_analysis *ret)
{
    struct ml_buf subject = {0};
    int r;

    *ret = (struct ml_tbd_analysis){0};
    r = ml_dictionary_builtin(DICTIONARY, &ret->dictionary, NULL);
    for (size_t i = 0; r == 0 && i < list->list.len; i++)
        r = add_entry(ret, ml_tagged_name(list, &list->list.items[i]), list->list.items[i].bytes,
                      &subject);
    ml_buf_release(&subject);
    if (r == 0)
        r = sort_descending(ret);
    if (r == 0)
        add_totals(ret);
    return r;
}

void ml_tbd_analysis_release(struct ml_tbd_analysis *analysis)
{
    for (size_t i = 0; i < analysis->categories.len; i++)
        ml_vec_release(&analysis->categories.items[i].tags);
    ml_vec_release(&analysis->categories);
    ml_vec_release(&analysis->descending);
    ml_vec_release(&analysis->unknown);
    ml_intern_release(&analysis->subjects);
    ml_dictionary_release(&analysis->dictionary);
    *analysis = (struct ml_tbd_analysis){0};
}
