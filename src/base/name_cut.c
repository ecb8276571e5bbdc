/* name_cut.c: see name_cut.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "name_cut.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <xxhash.h>

#include "utf8.h"

#define ELLIPSIS "\xe2\x80\xa6"
#define ELLIPSIS_WIDTH 1
#define COMMON_LEAST 4 /* columns: a shorter start costs more to tell than it saves */

/* ---- What names have in common ------------------------------------------- */

bool ml_name_is_apart(const struct ml_table_text *name)
{
    return name->len == 0 || name->bytes[0] == '(' || name->bytes[0] == '\xe2'; /* a rule */
}

static size_t common_bytes(const struct ml_table_text *a, const struct ml_table_text *b)
{
    size_t n = 0;

    while (n < a->len && n < b->len && a->bytes[n] == b->bytes[n])
        n++;
    return n;
}

size_t ml_names_common(const struct ml_table_text *names, size_t count, const char *separators)
{
    const struct ml_table_text *first = NULL;
    size_t common = 0;
    bool differ = false;

    for (size_t i = 0; i < count; i++) {
        size_t n;

        if (ml_name_is_apart(&names[i]))
            continue;
        if (!first) {
            first = &names[i];
            common = first->len - 1; /* something is left of each name */
        }
        n = common_bytes(first, &names[i]);
        differ |= n < first->len || n < names[i].len;
        common = n < common ? n : common;
        common = names[i].len - 1 < common ? names[i].len - 1 : common;
    }
    if (!differ)
        return 0;
    while (common > 0 && !strchr(separators, first->bytes[common - 1]))
        common--;
    return ml_utf8_width(first->bytes, common) < COMMON_LEAST ? 0 : common;
}

/* ---- One cut ------------------------------------------------------------- */

static bool is_inside_character(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* Where the last `columns` columns of the name begin. */
static size_t tail_start(const struct ml_table_text *name, size_t columns)
{
    size_t at = ml_clip_utf8(name->bytes, name->len, name->width - columns);

    /* A wide character that straddles the cut stays out. */
    while (ml_utf8_width(name->bytes + at, name->len - at) > columns) {
        uint32_t codepoint;

        at += ml_utf8_decode(name->bytes + at, name->len - at, &codepoint);
    }
    return at;
}

struct ml_name_cut ml_name_cut_after(const struct ml_table_text *name, size_t width, size_t head)
{
    size_t room = width - ELLIPSIS_WIDTH;

    if (name->width <= width)
        return (struct ml_name_cut){.head = name->len, .from = name->len, .to = name->len};
    return (struct ml_name_cut){.head = ml_clip_utf8(name->bytes, name->len, head),
                                .from = tail_start(name, room - head),
                                .to = name->len};
}

/* The columns around byte `at`. */
static struct ml_name_cut cut_around(const struct ml_table_text *name, size_t width, size_t at)
{
    size_t room = width - 2 * ELLIPSIS_WIDTH;
    struct ml_name_cut cut = {.from = at, .to = name->len};

    while (cut.from > 0 && (is_inside_character(name->bytes[cut.from]) ||
                            ml_utf8_width(name->bytes + cut.from, at - cut.from) < room / 3))
        cut.from--;
    if (ml_utf8_width(name->bytes + cut.from, name->len - cut.from) < width) {
        cut.from = tail_start(name, width - ELLIPSIS_WIDTH);
        return cut;
    }
    if (cut.from == 0)
        room += ELLIPSIS_WIDTH;
    cut.to = cut.from + ml_clip_utf8(name->bytes + cut.from, name->len - cut.from, room);
    return cut;
}

int ml_name_cut_put(const struct ml_table_text *name, const struct ml_name_cut *cut,
                    struct ml_buf *out)
{
    int r = ml_buf_append(out, name->bytes, cut->head);

    if (r == 0 && cut->from > cut->head)
        r = ml_buf_puts(out, ELLIPSIS);
    if (r == 0)
        r = ml_buf_append(out, name->bytes + cut->from, cut->to - cut->from);
    if (r == 0 && cut->to < name->len)
        r = ml_buf_puts(out, ELLIPSIS);
    return r;
}

uint64_t ml_name_look(const void *shown, size_t len)
{
    return XXH3_64bits(shown, len);
}

/* ---- Names that look alike ------------------------------------------------ */

struct shown_name {
    uint64_t look;
    const struct ml_table_text *name;
    size_t index;
};

static int by_look(const void *a, const void *b)
{
    const struct shown_name *x = a, *y = b;
    size_t len = x->name->len < y->name->len ? x->name->len : y->name->len;
    int order;

    if (x->look != y->look)
        return x->look < y->look ? -1 : 1;
    order = memcmp(x->name->bytes, y->name->bytes, len);
    return order ? order : (x->name->len > y->name->len) - (x->name->len < y->name->len);
}

/* The first behind `from` that has another name, or `count`. */
static size_t next_name(const struct shown_name *sorted, size_t count, size_t from)
{
    size_t i = from + 1;

    while (i < count && by_look(&sorted[from], &sorted[i]) == 0)
        i++;
    return i;
}

/* The names in an order in which those that look alike stand together. */
static struct shown_name *sort_by_look(const struct ml_table_text *names, size_t count,
                                       const uint64_t *looks)
{
    struct shown_name *sorted = malloc((count + 1) * sizeof(*sorted));

    for (size_t i = 0; sorted && i < count; i++)
        sorted[i] = (struct shown_name){looks[i], &names[i], i};
    if (sorted && count > 1)
        qsort(sorted, count, sizeof(*sorted), by_look);
    return sorted;
}

static int count_alike(const struct ml_table_text *names, size_t count, const uint64_t *looks,
                       size_t *ret_alike)
{
    struct shown_name *sorted = sort_by_look(names, count, looks);

    if (!sorted)
        return -ENOMEM;
    *ret_alike = 0;
    for (size_t i = next_name(sorted, count, 0); i < count; i = next_name(sorted, count, i))
        *ret_alike += sorted[i - 1].look == sorted[i].look;
    free(sorted);
    return 0;
}

/* How many bytes the name shares with one that looks like it; SIZE_MAX: with none. */
static size_t shared_with(const struct shown_name *name, const struct shown_name *other)
{
    return other && other->look == name->look ? common_bytes(name->name, other->name) : SIZE_MAX;
}

/* The byte by which the name differs from both neighbours that look like it; SIZE_MAX: it has
 * none. */
static size_t difference(const struct shown_name *name, const struct shown_name *before,
                         const struct shown_name *after)
{
    size_t a = shared_with(name, before), b = shared_with(name, after);
    size_t shared = a == SIZE_MAX || (b != SIZE_MAX && b > a) ? b : a;

    /* Of a name that another one begins with, its end. */
    return shared == name->name->len ? shared - 1 : shared;
}

int ml_names_tell_apart(const struct ml_table_text *names, size_t count, size_t width,
                        const uint64_t *looks, struct ml_name_cut *ret)
{
    struct shown_name *sorted = sort_by_look(names, count, looks);

    if (!sorted)
        return -ENOMEM;
    for (size_t i = 0, end; i < count; i = end) {
        size_t at;

        end = next_name(sorted, count, i);
        at = difference(&sorted[i], i > 0 ? &sorted[i - 1] : NULL,
                        end < count ? &sorted[end] : NULL);
        if (at == SIZE_MAX || sorted[i].name->width <= width)
            continue;
        for (size_t k = i; k < end; k++)
            ret[sorted[k].index] = cut_around(sorted[k].name, width, at);
    }
    free(sorted);
    return 0;
}

/* ---- All names of a column ------------------------------------------------- */

/* @looks  set to how each name then looks */
static int cut_all(const struct ml_table_text *names, size_t count, size_t width, size_t head,
                   struct ml_name_cut *ret, uint64_t *looks)
{
    struct ml_buf shown = {0};
    int r = 0;

    for (size_t i = 0; i < count && r == 0; i++) {
        ret[i] = ml_name_cut_after(&names[i], width, head);
        ml_buf_clear(&shown);
        r = ml_name_cut_put(&names[i], &ret[i], &shown);
        looks[i] = ml_name_look(shown.data ? shown.data : (const uint8_t *)"", shown.len);
    }
    ml_buf_release(&shown);
    return r;
}

/* Cuts in the middle, or elsewhere where that shows more differences. */
static int choose_head(const struct ml_table_text *names, size_t count, size_t width,
                       struct ml_name_cut *ret, uint64_t *looks)
{
    size_t room = width - ELLIPSIS_WIDTH, least = SIZE_MAX, best = 0;
    const size_t heads[] = {room - room / 2, 0, room / 4, room - room / 4, room};
    int r = 0;

    for (size_t i = 0; i < ML_ARRAY_SIZE(heads) && least > 0 && r == 0; i++) {
        size_t alike = 0;

        r = cut_all(names, count, width, heads[i], ret, looks);
        if (r == 0)
            r = count_alike(names, count, looks, &alike);
        if (r == 0 && alike < least) {
            least = alike;
            best = heads[i];
        }
    }
    return r < 0 || least == 0 ? r : cut_all(names, count, width, best, ret, looks);
}

int ml_names_cut(const struct ml_table_text *names, size_t count, size_t width,
                 struct ml_name_cut *ret)
{
    uint64_t *looks = malloc((count + 1) * sizeof(*looks));
    int r = looks ? choose_head(names, count, width, ret, looks) : -ENOMEM;

    if (r == 0)
        r = ml_names_tell_apart(names, count, width, looks, ret);
    free(looks);
    return r;
}
