/* moment_pages.c: see moment_pages.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "moment_pages.h"

#include <errno.h>
#include <stdlib.h>

#include "pyramid_tags.h"
#include "varint.h"

/* ---- Moments ------------------------------------------------------------------- */

static int get_number(const uint8_t **in, const uint8_t *end, uint64_t *ret)
{
    *in = ml_varint_get(*in, end, ret);
    return *in ? 0 : -EBADMSG;
}

/* So that the bands of a moment add up to a number that fits. */
#define BAND_MAX (INT64_MAX / ML_BANDS_MAX)

static int get_band(const uint8_t **in, const uint8_t *end, size_t count, size_t band,
                    struct ml_bands_moment *ret)
{
    uint64_t value = 0, change;

    for (size_t i = 0; i < count; i++) {
        if (get_number(in, end, &change) < 0)
            return -EBADMSG;
        value += (uint64_t)ml_unzigzag(change);
        if (value > BAND_MAX)
            return -EBADMSG;
        ret[i].bytes[band] = value;
    }
    return 0;
}

int ml_moments_get(const struct ml_record *record, enum ml_bands_by by, size_t each, size_t max,
                   struct ml_bands_moment *ret, size_t *ret_count)
{
    const uint8_t *in = record->in;
    uint64_t head[3]; /* sort, count, bands */
    size_t count;
    int r = 0;

    for (int i = 0; r == 0 && i < 3; i++)
        r = get_number(&in, record->end, &head[i]);
    if (r < 0 || head[0] != by)
        return r;
    if (head[1] > max / each || head[2] == 0 || head[2] > ML_BANDS_MAX)
        return -EBADMSG; /* without bands, moments would take time but no bytes of the file */
    count = (size_t)head[1] * each;
    for (size_t i = 0; i < count; i++)
        ret[i] = (struct ml_bands_moment){0};
    for (size_t band = 0; r == 0 && band < head[2]; band++)
        r = get_band(&in, record->end, count, band, ret);
    *ret_count = count;
    return r < 0 ? r : 1;
}

/* ---- Pages --------------------------------------------------------------------- */

void ml_moment_pages_release(struct ml_moment_pages *pages)
{
    for (size_t i = 0; i < pages->list.len; i++)
        free(pages->list.items[i].moments);
    ml_vec_release(&pages->list);
    ml_buf_release(&pages->bytes);
}

static int read_page(struct ml_moment_pages *p, size_t number, struct ml_moment_page *ret)
{
    const uint8_t *in, *end;
    struct ml_record record;
    int r = ml_trace_read_section(p->pyramid->file, p->pyramid->pages.items[number],
                                  ML_BLOCK_PYRAMID, &p->bytes);

    if (r == 0)
        ret->moments = calloc(ML_PYRAMID_PAGE, sizeof(*ret->moments));
    if (r == 0 && !ret->moments)
        return -ENOMEM;
    in = p->bytes.data;
    end = in + p->bytes.len;
    while (r == 0 && ml_record_next(&in, end, &record) > 0)
        if (record.tag == ML_PYRAMID_PAGE_MOMENTS)
            r = ml_moments_get(&record, p->by, 1, ML_PYRAMID_PAGE, ret->moments, &ret->count);
    if (r == 0)
        r = -EBADMSG; /* the page lacks the sort, or ends early */
    return r < 0 ? r : 0;
}

int ml_moment_pages_find(struct ml_moment_pages *pages, uint64_t number,
                         struct ml_bands_moment *ret)
{
    uint64_t page_number = number / ML_PYRAMID_PAGE, i = number % ML_PYRAMID_PAGE;
    struct ml_moment_page *page;
    int r = 0;

    if (page_number >= pages->pyramid->pages.len)
        return -EBADMSG;
    while (r == 0 && pages->list.len < pages->pyramid->pages.len)
        r = ml_vec_push(&pages->list, (struct ml_moment_page){0});
    if (r < 0)
        return r;
    page = &pages->list.items[page_number];
    if (!page->moments)
        r = read_page(pages, (size_t)page_number, page);
    if (r == 0 && i >= page->count)
        r = -EBADMSG;
    if (r == 0)
        *ret = page->moments[i];
    return r;
}
