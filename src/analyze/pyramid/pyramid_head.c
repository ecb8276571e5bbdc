/* pyramid_head.c: see pyramid_head.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pyramid_head.h"

#include <string.h>

#include "pyramid_tags.h"

static int put_facts(const struct ml_pyramid_head *head, struct ml_buf *out)
{
    uint64_t row[ML_PYRAMID_FACTS_FIELDS] = {
        [ML_PYRAMID_AT_VERSION] = ML_PYRAMID_VERSION,
        [ML_PYRAMID_FROM_SCOPES] = head->bands[ML_BANDS_MODULE].from_scopes,
        [ML_PYRAMID_SPAN_NS] = head->span_ns,
        [ML_PYRAMID_LAST_LEVEL] = head->last_level,
    };
    const ml_numbers numbers = {.items = row, .len = ML_PYRAMID_FACTS_FIELDS};

    return ml_rows_put(out, ML_PYRAMID_FACTS, &numbers, ML_PYRAMID_FACTS_FIELDS);
}

static int put_band_rows(const struct ml_bands *all, struct ml_buf *out)
{
    ml_numbers numbers = {0};
    int r = 0;

    for (size_t by = 0; by < ML_BANDS_BY_COUNT; by++)
        for (size_t i = 0; r == 0 && i < all[by].count; i++) {
            r = ml_vec_push(&numbers, by);
            if (r == 0)
                r = ml_vec_push(&numbers, all[by].list[i].rest);
        }
    if (r == 0)
        r = ml_rows_put(out, ML_PYRAMID_BANDS, &numbers, ML_PYRAMID_BANDS_FIELDS);
    ml_vec_release(&numbers);
    return r;
}

static int put_names(const struct ml_bands *all, struct ml_buf *out)
{
    int r = 0;

    for (size_t by = 0; by < ML_BANDS_BY_COUNT; by++)
        for (size_t i = 0; r == 0 && i < all[by].count; i++)
            r = ml_record_put(out, ML_PYRAMID_NAME, all[by].list[i].name,
                              strlen(all[by].list[i].name));
    return r;
}

int ml_pyramid_head_put(const struct ml_pyramid_head *head, struct ml_buf *out)
{
    int r = put_facts(head, out);

    if (r == 0)
        r = ml_record_put(out, ML_PYRAMID_DEVICE, head->device, strlen(head->device));
    if (r == 0)
        r = ml_rows_put(out, ML_PYRAMID_TILES, head->tiles, ML_PYRAMID_TILES_FIELDS);
    if (r == 0)
        r = ml_rows_put(out, ML_PYRAMID_PAGES, head->pages, 1);
    if (r == 0)
        r = put_band_rows(head->bands, out);
    return r < 0 ? r : put_names(head->bands, out);
}
