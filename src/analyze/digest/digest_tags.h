/* digest_tags.h: the records of a digest; see docs/digest-format.md. Only this room includes it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_DIGEST_TAGS_H
#define ML_ANALYZE_DIGEST_TAGS_H

enum ml_digest_tag {
    ML_DIGEST_FACTS = 1,
    ML_DIGEST_COMMAND = 2,
    ML_DIGEST_HOST = 3,
    ML_DIGEST_SETTING_KEY = 4, /* its value follows */
    ML_DIGEST_SETTING_VALUE = 5,
    ML_DIGEST_MODULE = 6,
    ML_DIGEST_BOOK = 7,
    ML_DIGEST_ENTRY = 8, /* of the last book */
    ML_DIGEST_RANK = 9,  /* the next ones are of the last rank */
    ML_DIGEST_PLACE = 10,
    ML_DIGEST_RANK_COMMAND = 11,
    ML_DIGEST_DEVICE = 12,
    ML_DIGEST_ROWS = 13,
    ML_DIGEST_CELLS = 14,
    ML_DIGEST_VALUES = 15,
    ML_DIGEST_CURVE = 16,
};

enum ml_digest_facts_field {
    ML_DIGEST_AT_VERSION,
    ML_DIGEST_TRACE_BYTES,
    ML_DIGEST_START_WALL_NS,
    ML_DIGEST_END_NS,
    ML_DIGEST_EVENTS,
    ML_DIGEST_LOST,
    ML_DIGEST_CUT_SHORT,
    ML_DIGEST_KILLED_AT_LIMIT,
    ML_DIGEST_MEMORY_LIMIT,
    ML_DIGEST_HEAP_SAMPLED,
    ML_DIGEST_FACTS_FIELDS,
};

enum ml_digest_book_field {
    ML_DIGEST_BOOK_SAMPLED,
    ML_DIGEST_BOOK_HAS_TOTAL,
    ML_DIGEST_BOOK_USED,
    ML_DIGEST_BOOK_TOTAL,
    ML_DIGEST_BOOK_UNEXPLAINED, /* zigzag */
    ML_DIGEST_BOOK_FIELDS,
};

enum ml_digest_rank_field {
    ML_DIGEST_RANK_NUMBER, /* 1 + the rank; 0: none */
    ML_DIGEST_RANK_PID,
    ML_DIGEST_RANK_PROCESSES,
    ML_DIGEST_RANK_ENDING,
    ML_DIGEST_RANK_EXIT_CODE,
    ML_DIGEST_RANK_SIGNAL,
    ML_DIGEST_RANK_START_NS,
    ML_DIGEST_RANK_END_NS,
    ML_DIGEST_RANK_OOMS,
    ML_DIGEST_RANK_ALLOCATIONS,
    ML_DIGEST_RANK_STEPS,
    ML_DIGEST_RANK_STEPS_PER_ROW,
    ML_DIGEST_RANK_FIELDS,
};

enum ml_digest_row_field {
    ML_DIGEST_ROW_NUMBER,
    ML_DIGEST_ROW_BEGIN_NS,
    ML_DIGEST_ROW_END_NS,
    ML_DIGEST_ROW_PEAK,
    ML_DIGEST_ROW_END,
    ML_DIGEST_ROW_FIELDS,
};

#endif
