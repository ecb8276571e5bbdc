/* run_names.c: see run_names.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "run_names.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "text.h"

#define EXTENSION ".mled"

static size_t stem_len(const char *name)
{
    size_t len = strlen(name), extension = strlen(EXTENSION);

    if (len > extension && strcmp(name + len - extension, EXTENSION) == 0)
        return len - extension;
    return len;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || (c & 0x80);
}

/* The length of the common prefix of all stems, cut back to the end of a separator. */
static size_t common_start(const char *const *stems, const size_t *lens, size_t count)
{
    size_t n = lens[0];

    for (size_t i = 1; i < count; i++)
        for (size_t k = 0; k < n; k++)
            if (k >= lens[i] || stems[i][k] != stems[0][k])
                n = k;
    while (n > 0 && is_word(stems[0][n - 1]))
        n--;
    return n;
}

/* The same from the end, without the first `start` characters. */
static size_t common_end(const char *const *stems, const size_t *lens, size_t count, size_t start)
{
    size_t n = lens[0] - start;

    for (size_t i = 1; i < count; i++)
        for (size_t k = 0; k < n; k++)
            if (k >= lens[i] - start || stems[i][lens[i] - 1 - k] != stems[0][lens[0] - 1 - k])
                n = k;
    while (n > 0 && is_word(stems[0][lens[0] - n]))
        n--;
    return n;
}

static bool all_good(const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (names[i][0] == '\0')
            return false;
        for (size_t k = 0; k < i; k++)
            if (strcmp(names[i], names[k]) == 0)
                return false;
    }
    return true;
}

/* The file names without folder and extension. */
struct stems {
    const char **text;
    size_t *lens;
    size_t count;
};

static int find_stems(const char *const *paths, size_t count, struct ml_arena *arena,
                      struct stems *ret)
{
    ret->text = ml_arena_alloc(arena, count * sizeof(*ret->text));
    ret->lens = ml_arena_alloc(arena, count * sizeof(*ret->lens));
    ret->count = count;
    if (!ret->text || !ret->lens)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        ret->text[i] = ml_base_name(paths[i]);
        ret->lens[i] = stem_len(ret->text[i]);
    }
    return 0;
}

static int cut(const struct stems *stems, bool trim, struct ml_arena *arena, const char **ret)
{
    size_t start = trim ? common_start(stems->text, stems->lens, stems->count) : 0;
    size_t end = trim ? common_end(stems->text, stems->lens, stems->count, start) : 0;

    for (size_t i = 0; i < stems->count; i++) {
        ret[i] = ml_arena_dup(arena, stems->text[i] + start, stems->lens[i] - start - end);
        if (!ret[i])
            return -ENOMEM;
    }
    return 0;
}

int ml_run_names(const char *const *paths, size_t count, struct ml_arena *arena, const char **ret)
{
    struct stems stems;

    if (find_stems(paths, count, arena, &stems) < 0)
        return -ENOMEM;
    for (int trim = count > 1; trim >= 0; trim--) {
        int r = cut(&stems, trim, arena, ret);

        if (r < 0 || all_good(ret, count))
            return r;
    }
    memcpy(ret, paths, count * sizeof(*ret));
    return 0;
}

const char *ml_run_names_common(const char *const *paths, const char *const *names, size_t count,
                                struct ml_arena *arena)
{
    struct stems stems;
    size_t len;

    if (find_stems(paths, count, arena, &stems) < 0)
        return NULL;
    if (strlen(names[0]) >= stems.lens[0])
        return "";
    len = common_start(stems.text, stems.lens, count);
    while (len > 0 && !is_word(stems.text[0][len - 1]))
        len--;
    return ml_arena_dup(arena, stems.text[0], len);
}
