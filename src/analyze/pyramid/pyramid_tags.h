/* pyramid_tags.h: the records of a pyramid; see docs/trace-format.md. Only this room includes it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_PYRAMID_TAGS_H
#define ML_ANALYZE_PYRAMID_TAGS_H

enum ml_pyramid_tag {
    ML_PYRAMID_TILE_MOMENTS = 1, /* of a tile */
    ML_PYRAMID_FACTS = 2,        /* this and the next ones are in the last section */
    ML_PYRAMID_LEVEL_LIST = 3,
    ML_PYRAMID_BANDS = 4,
    ML_PYRAMID_NAME = 5, /* of one band, in order */
};

#define ML_PYRAMID_VERSION 1

enum ml_pyramid_facts_field {
    ML_PYRAMID_AT_VERSION,
    ML_PYRAMID_BY,
    ML_PYRAMID_FROM_SCOPES,
    ML_PYRAMID_SPAN_NS,
    ML_PYRAMID_PEAK_BYTES,
    ML_PYRAMID_PEAK_NS,
    ML_PYRAMID_FACTS_FIELDS,
};

enum ml_pyramid_band_field {
    ML_PYRAMID_BAND_REST,
    ML_PYRAMID_BAND_PEAK_BYTES,
    ML_PYRAMID_BAND_SHARE_BYTES,
    ML_PYRAMID_BAND_FIELDS,
};

#endif
