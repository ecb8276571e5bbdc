/* grouping.c: see grouping.h.
 *
 * Tags repeat: entries are first added up by tag, and each tag is matched once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "grouping.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tags.h"
#include "utf8.h"

#define CUT ".."

/* All entries of one tag. */
struct tag_sum {
    uint64_t bytes, count;
    uint64_t first; /* index in the list */
    uint32_t tag;
};

struct maker {
    const struct ml_tag_list *list;
    const struct ml_dictionary *dictionary;
    const struct ml_grouping_opts *opts;
    struct ml_grouping *ret;
    ML_VEC(struct tag_sum) sums;           /* by first */
    struct ml_buf words;                   /* of a tag, as it is shown */
    struct ml_buf subject;                 /* the text in which keywords are searched */
    ML_VEC(struct ml_group_match) matches; /* of the current tag */
};

/* ---- Sums by tag -------------------------------------------------------- */

static int add_up(struct maker *m)
{
    ML_VEC(uint32_t) index = {0}; /* tag -> index + 1 */
    int r = ml_vec_reserve(&index, ml_intern_len(&m->list->tags) + 1);

    if (r == 0)
        memset(index.items, 0, index.cap * sizeof(*index.items));
    for (size_t i = 0; r == 0 && i < m->list->list.len; i++) {
        const struct ml_tagged *entry = &m->list->list.items[i];
        uint32_t *at = &index.items[entry->tag];

        if (!*at) {
            r = ml_vec_push(&m->sums, (struct tag_sum){.first = i, .tag = entry->tag});
            *at = (uint32_t)m->sums.len;
        }
        if (r == 0) {
            m->sums.items[*at - 1].bytes += entry->bytes;
            m->sums.items[*at - 1].count++;
        }
    }
    ml_vec_release(&index);
    return r;
}

/* ---- Matching ----------------------------------------------------------- */

static const char *copy(struct maker *m, const char *text)
{
    return ml_arena_dup(&m->ret->arena, text, strlen(text));
}

/* @keyword  NULL: the group of tags without a match @return NULL: out of memory */
static struct ml_group *group_of(struct maker *m, const struct ml_keyword *keyword, uint64_t first)
{
    const char *name =
        keyword ? m->dictionary->categories.items[keyword->category] : m->dictionary->others;
    struct ml_group group = {.first = first, .is_others = !keyword};

    for (size_t i = 0; i < m->ret->groups.len; i++) {
        struct ml_group *g = &m->ret->groups.items[i];

        if (g->is_others == !keyword && strcmp(g->name, name) == 0)
            return g;
    }
    group.name = copy(m, name);
    if (!group.name || ml_vec_push(&m->ret->groups, group) < 0)
        return NULL;
    return &m->ret->groups.items[m->ret->groups.len - 1];
}

/* A dictionary may count a tag several times: such sums saturate. */
static int64_t add_bytes(int64_t sum, uint64_t bytes)
{
    return __builtin_add_overflow(sum, bytes, &sum) ? INT64_MAX : sum;
}

static int put_entry(struct ml_group *group, const struct tag_sum *sum, const char *tag)
{
    group->bytes = add_bytes(group->bytes, sum->bytes);
    group->count += sum->count;
    /* Two keywords of one category match: it counts the tag twice, as MXNet's scripts do. */
    if (group->entries.len > 0 && group->entries.items[group->entries.len - 1].tag == tag) {
        group->entries.items[group->entries.len - 1].bytes += sum->bytes;
        group->entries.items[group->entries.len - 1].count += sum->count;
        return 0;
    }
    return ml_vec_push(&group->entries, (struct ml_group_entry){tag, sum->bytes, sum->count});
}

static int keep_match(struct maker *m, const struct ml_keyword *keyword)
{
    struct ml_group_match match = {copy(m, keyword->text),
                                   copy(m, m->dictionary->categories.items[keyword->category])};

    return match.keyword && match.category ? ml_vec_push(&m->matches, match) : -ENOMEM;
}

static int tell_clash(struct maker *m, const char *tag)
{
    size_t bytes = m->matches.len * sizeof(*m->matches.items);
    struct ml_group_match *matches = ml_arena_alloc(&m->ret->arena, bytes);

    if (!matches)
        return -ENOMEM;
    memcpy(matches, m->matches.items, bytes);
    return ml_vec_push(&m->ret->clashes, (struct ml_group_clash){tag, matches, m->matches.len});
}

static int put_in_group(struct maker *m, const struct ml_keyword *keyword,
                        const struct tag_sum *sum, const char *tag)
{
    struct ml_group *group = group_of(m, keyword, sum->first);

    return group ? put_entry(group, sum, tag) : -ENOMEM;
}

/* The tag as it is shown; NULL: out of memory. */
static const char *spelled(struct maker *m, const char *tag)
{
    if (!m->opts->torch_words)
        return copy(m, tag);
    ml_buf_clear(&m->words);
    if (ml_tag_in_torch_words(tag, &m->words) < 0)
        return NULL;
    return ml_arena_dup(&m->ret->arena, (const char *)m->words.data, m->words.len);
}

/* The first keyword that matches either spelling of a tag, MXNet's first; -1: none, or -ENOMEM.
 * The subject is then the spelling that matches. */
static int64_t first_match(struct maker *m, const char *tag, const char *shown,
                           const char *class_name)
{
    int r = ml_dictionary_subject(m->dictionary, tag, class_name, &m->subject);
    int64_t at = r < 0 ? r : ml_dictionary_match(m->dictionary, (char *)m->subject.data, 0);

    /* A dictionary of layers knows modules that are called activation. */
    if (at != -1 || !m->opts->torch_words || m->dictionary->classes)
        return at;
    r = ml_dictionary_subject(m->dictionary, shown, class_name, &m->subject);
    return r < 0 ? r : ml_dictionary_match(m->dictionary, (char *)m->subject.data, 0);
}

static int put_tag(struct maker *m, const struct tag_sum *sum)
{
    const char *original = ml_intern_get(&m->list->tags, sum->tag, NULL);
    const char *tag = spelled(m, original);
    const struct ml_keyword *keywords = m->dictionary->keywords.items;
    bool all = m->dictionary->match == ML_MATCH_ALL;
    const char *class_name = ml_tagged_class(m->list, &m->list->list.items[sum->first]);
    int64_t at = tag ? first_match(m, original, tag, class_name) : -ENOMEM;
    int r = 0;

    if (at == -ENOMEM)
        return -ENOMEM;
    if (at < 0)
        return put_in_group(m, NULL, sum, tag);
    ml_vec_clear(&m->matches);
    while (r == 0 && at >= 0) {
        r = put_in_group(m, &keywords[at], sum, tag);
        if (r == 0 && all)
            r = keep_match(m, &keywords[at]);
        at = all ? ml_dictionary_match(m->dictionary, (char *)m->subject.data, (size_t)at + 1) : -1;
    }
    return r == 0 && m->matches.len > 1 ? tell_clash(m, tag) : r;
}

/* ---- Order and shares --------------------------------------------------- */

static int by_entry_bytes(const void *a, const void *b)
{
    const struct ml_group_entry *x = a, *y = b;

    return x->bytes != y->bytes ? (x->bytes < y->bytes ? 1 : -1) : strcmp(x->tag, y->tag);
}

static int by_group_bytes(const void *a, const void *b)
{
    const struct ml_group *x = a, *y = b;

    if (x->is_others != y->is_others)
        return x->is_others ? 1 : -1;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return (x->first > y->first) - (x->first < y->first);
}

static int by_tag(const void *a, const void *b)
{
    const struct ml_group_entry *x = a, *y = b;

    return strcmp(x->tag, y->tag);
}

/* "data_entry:encoder_lstm_layer0_time12_input_to_…" with ".." appended. */
static const char *cut_tag(struct maker *m, const char *tag)
{
    size_t len = strlen(tag), kept = ml_clip_utf8(tag, len, m->opts->tag_chars);
    char *text = kept < len ? ml_arena_dup(&m->ret->arena, tag, kept + strlen(CUT)) : NULL;

    if (text)
        memcpy(text + kept, CUT, strlen(CUT) + 1);
    return kept < len ? text : tag;
}

static void merge_equal(struct ml_group *group)
{
    struct ml_group_entry *entries = group->entries.items;
    size_t kept = 0;

    if (group->entries.len == 0)
        return;
    ml_vec_sort(&group->entries, by_tag);
    for (size_t i = 1; i < group->entries.len; i++) {
        if (strcmp(entries[i].tag, entries[kept].tag) != 0) {
            entries[++kept] = entries[i];
            continue;
        }
        entries[kept].bytes += entries[i].bytes;
        entries[kept].count += entries[i].count;
    }
    group->entries.len = kept + 1;
}

static int cut_tags(struct maker *m, struct ml_group *group)
{
    for (size_t i = 0; i < group->entries.len; i++) {
        struct ml_group_entry *e = &group->entries.items[i];

        e->tag = cut_tag(m, e->tag);
        if (!e->tag)
            return -ENOMEM;
    }
    merge_equal(group);
    return 0;
}

static void cut_entries(struct ml_group *group, size_t top)
{
    ml_vec_sort(&group->entries, by_entry_bytes);
    while (group->entries.len > top) {
        group->rest_bytes += group->entries.items[--group->entries.len].bytes;
        group->rest_entries++;
    }
}

static int finish(struct maker *m)
{
    struct ml_grouping *g = m->ret;
    double whole = (double)(g->has_expected ? g->expected_bytes : g->total_bytes);
    int64_t rest;

    if (__builtin_sub_overflow(g->expected_bytes, g->total_bytes, &rest))
        rest = g->expected_bytes > g->total_bytes ? INT64_MAX : INT64_MIN;
    ml_vec_sort(&g->groups, by_group_bytes);
    if (g->has_expected && ml_vec_push(&g->groups, (struct ml_group){
                                                       .name = ML_UNTRACKABLE,
                                                       .bytes = rest,
                                                       .is_untrackable = true,
                                                   }) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < g->groups.len; i++) {
        struct ml_group *group = &g->groups.items[i];

        if (m->opts->tag_chars && !group->is_others && cut_tags(m, group) < 0)
            return -ENOMEM;
        cut_entries(group, m->opts->top);
        group->percent = whole > 0 ? 100.0 * (double)group->bytes / whole : 0;
    }
    return 0;
}

int ml_grouping(const struct ml_tag_list *list, const struct ml_dictionary *dictionary,
                const struct ml_grouping_opts *opts, struct ml_grouping *ret)
{
    struct maker m = {.list = list, .dictionary = dictionary, .opts = opts, .ret = ret};
    int r;

    *ret = (struct ml_grouping){
        .match = dictionary->match,
        .total_bytes = list->bytes,
        .total_count = list->list.len,
        .has_expected = opts->has_expected || dictionary->has_expected,
        .expected_bytes = opts->has_expected ? opts->expected_bytes : dictionary->expected_bytes,
    };
    ret->dictionary = copy(&m, dictionary->name);
    r = ret->dictionary ? add_up(&m) : -ENOMEM;
    for (size_t i = 0; r == 0 && i < m.sums.len; i++)
        r = put_tag(&m, &m.sums.items[i]);
    if (r == 0)
        r = finish(&m);
    ml_vec_release(&m.sums);
    ml_vec_release(&m.matches);
    ml_buf_release(&m.words);
    ml_buf_release(&m.subject);
    return r;
}

void ml_grouping_release(struct ml_grouping *grouping)
{
    for (size_t i = 0; i < grouping->groups.len; i++)
        ml_vec_release(&grouping->groups.items[i].entries);
    ml_vec_release(&grouping->groups);
    ml_vec_release(&grouping->clashes);
    ml_arena_release(&grouping->arena);
    *grouping = (struct ml_grouping){0};
}
