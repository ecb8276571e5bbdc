/* place.c: see place.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "place.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "target.h"

/* The next pair of a list, or NULL; `*len` without the blank after it. */
static const char *next_pair(const char *list, size_t *len)
{
    list += strspn(list, " ");
    *len = strcspn(list, " ");
    return *len ? list : NULL;
}

/* The value of a key in a list; NULL: none. */
static const char *value_of(const char *list, const char *key, size_t key_len)
{
    size_t len = 0;

    for (const char *pair = list; (pair = next_pair(pair + len, &len));) {
        if (len > key_len && !strncmp(pair, key, key_len) && pair[key_len] == '=')
            return pair + key_len + 1;
    }
    return NULL;
}

static void append(char *ret, size_t room, const char *pair, size_t len)
{
    size_t used = strlen(ret);

    snprintf(ret + used, room - used, "%s%.*s", used ? " " : "", (int)len, pair);
}

void ml_place_join(const char *first, const char *later, char *ret, size_t room)
{
    size_t len = 0;

    ret[0] = '\0';
    for (const char *pair = first; (pair = next_pair(pair + len, &len));) {
        if (!value_of(later, pair, strcspn(pair, "= ")))
            append(ret, room, pair, len);
    }
    len = 0;
    for (const char *pair = later; (pair = next_pair(pair + len, &len));)
        append(ret, room, pair, len);
}

static void end_at_odd_byte(char *text)
{
    while (*text >= ' ' && *text < 127)
        text++;
    *text = '\0';
}

void ml_place_begin(struct ml_target *t, const struct ml_hello *hello, struct ml_dict *dict)
{
    memcpy(t->place, hello->place, sizeof(hello->place));
    t->place[sizeof(hello->place) - 1] = '\0';
    end_at_odd_byte(t->place);
    if (t->place[0])
        ml_dict_process_place(dict, t->process, t->place);
}

/* "rank 3" is a role of its own in each report. */
static void note_rank(struct ml_target *t, const char *place, struct ml_dict *dict)
{
    const char *rank = value_of(place, "rank", strlen("rank"));
    unsigned number;

    if (t->role.text[0] || !rank || sscanf(rank, "%9u", &number) != 1)
        return;
    snprintf(t->role.text, sizeof(t->role.text), "rank %u", number);
    ml_dict_process_role(dict, t->process, t->role.text);
}

void ml_place_note(struct ml_target *t, struct ml_dict *dict)
{
    struct ml_given_place *given = t->sets.len ? &t->sets.items[0].shared->place : NULL;
    char later[sizeof(given->text)], whole[ML_PLACE_BYTES];

    if (!given || !ml_given_place_get(given, &t->times_placed, later))
        return;
    end_at_odd_byte(later);
    ml_place_join(t->place, later, whole, sizeof(whole));
    ml_dict_process_place(dict, t->process, whole);
    note_rank(t, whole, dict);
}
