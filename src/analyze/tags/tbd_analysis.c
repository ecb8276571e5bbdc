/* tbd_analysis.c: see tbd_analysis.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tbd_analysis.h"

#include <errno.h>
#include <string.h>

#define DICTIONARY "tbd"

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

/* The total that includes a keyword, besides that of all. */
static struct ml_tbd_total *total_of(struct ml_tbd_analysis *a, const char *keyword)
{
    return is_weights(keyword) ? &a->weights : is_unknown(keyword) ? &a->unknown_tags : &a->forward;
}

static void add_totals(struct ml_tbd_analysis *a)
{
    for (size_t i = 0; i < a->categories.len; i++) {
        const struct ml_tbd_category *c = &a->categories.items[i];

        add(&a->all, c->bytes);
        add(total_of(a, c->keyword), c->bytes);
        a->annotations += c->tags.len;
    }
}

/* @return NULL: out of memory */
static struct ml_tbd_category *category_of(struct ml_tbd_analysis *a,
                                           const struct ml_dictionary *dictionary,
                                           const struct ml_keyword *keyword)
{
    struct ml_tbd_category added = {
        .keyword = keyword->text,
        .name = dictionary->categories.items[keyword->category],
    };

    for (size_t i = 0; i < a->categories.len; i++)
        if (strcmp(a->categories.items[i].keyword, keyword->text) == 0)
            return &a->categories.items[i];
    return ml_vec_push(&a->categories, added) < 0 ? NULL
                                                  : &a->categories.items[a->categories.len - 1];
}

static int add_entry(struct ml_tbd_analysis *a, const struct ml_dictionary *dictionary,
                     const char *tag, uint64_t bytes, struct ml_buf *word)
{
    int64_t id;
    int r;
    struct ml_tbd_category *category;
    const char *text;
    int64_t keyword;

    ml_buf_clear(word);
    r = ml_tbd_word(tag, word);
    id = r < 0 ? r : ml_intern_put(&a->words, word->data, word->len, NULL);
    if (id < 0)
        return (int)id;
    text = ml_intern_get(&a->words, (uint32_t)id, NULL);
    keyword = ml_dictionary_match(dictionary, text, 0);
    if (keyword < 0)
        return ml_vec_push(&a->unknown, text);
    category = category_of(a, dictionary, &dictionary->keywords.items[keyword]);
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

int ml_tbd_analysis(const struct ml_tag_list *list, const struct ml_dictionary *own,
                    struct ml_tbd_analysis *ret)
{
    const struct ml_dictionary *dictionary = own ? own : &ret->builtin;
    struct ml_buf word = {0};
    int r;

    *ret = (struct ml_tbd_analysis){0};
    r = own ? 0 : ml_dictionary_builtin(DICTIONARY, &ret->builtin, NULL);
    for (size_t i = 0; r == 0 && i < list->list.len; i++)
        r = add_entry(ret, dictionary, ml_tagged_name(list, &list->list.items[i]),
                      list->list.items[i].bytes, &word);
    ml_buf_release(&word);
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
    ml_intern_release(&analysis->words);
    ml_dictionary_release(&analysis->builtin);
    *analysis = (struct ml_tbd_analysis){0};
}
