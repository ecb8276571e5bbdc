/* pyramid_tags.h: the records of a pyramid; see docs/trace-format.md. Only this room includes it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_PYRAMID_TAGS_H
#define ML_ANALYZE_PYRAMID_TAGS_H

enum ml_pyramid_tag {
    ML_PYRAMID_MOMENTS = 1, /* of a tile, of one sort */
    ML_PYRAMID_TIMES = 2,   /* of a tile: when the highest total of each column was reached */
    ML_PYRAMID_FACTS = 3, /* this and the next ones are in the last section, once for each device */
    ML_PYRAMID_DEVICE = 4,
    ML_PYRAMID_TILES = 5,
    ML_PYRAMID_BANDS = 6,
    ML_PYRAMID_NAME = 7,         /* of one band, in the order of the bands */
    ML_PYRAMID_REFERENCES = 8,   /* of a tile: the numbers of its moments */
    ML_PYRAMID_PAGE_MOMENTS = 9, /* of a page, of one sort */
    ML_PYRAMID_PAGES = 10,       /* in the last section */
};

#define ML_PYRAMID_VERSION 3
#define ML_PYRAMID_OLDEST_VERSION 2 /* without pages */

enum ml_pyramid_facts_field {
    ML_PYRAMID_AT_VERSION,
    ML_PYRAMID_FROM_SCOPES,
    ML_PYRAMID_SPAN_NS,
    ML_PYRAMID_LAST_LEVEL,
    ML_PYRAMID_FACTS_FIELDS,
};

enum ml_pyramid_tiles_field {
    ML_PYRAMID_TILE_LEVEL,
    ML_PYRAMID_TILE_BLOCK,
    ML_PYRAMID_TILES_FIELDS,
};

enum ml_pyramid_bands_field {
    ML_PYRAMID_BAND_BY,
    ML_PYRAMID_BAND_REST,
    ML_PYRAMID_BANDS_FIELDS,
};

#endif
