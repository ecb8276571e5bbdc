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
    ML_PYRAMID_NAME = 7, /* of one band, in the order of the bands */
};

#define ML_PYRAMID_VERSION 2

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
