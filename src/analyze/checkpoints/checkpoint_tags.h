/* checkpoint_tags.h: the records of a directory and of a section of classes; see
 * docs/trace-format.md. Only this room includes it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_CHECKPOINT_TAGS_H
#define ML_ANALYZE_CHECKPOINT_TAGS_H

enum ml_directory_tag {
    ML_DIRECTORY_FACTS = 1,
    ML_DIRECTORY_LIST = 2,
    ML_DIRECTORY_END = 3,   /* a state */
    ML_DIRECTORY_STEPS = 4, /* rows of differences; STEP_COLUMNS replaces it */
    ML_DIRECTORY_REFUSALS = 5,
    ML_DIRECTORY_MAKER = 6, /* a text */
    ML_DIRECTORY_OUTLINES = 7,
    ML_DIRECTORY_STEP_COLUMNS = 8,
};

#define ML_DIRECTORY_VERSION 3

enum ml_facts_field {
    ML_FACTS_VERSION,
    ML_FACTS_CLASSIFIED,
    ML_FACTS_LAST_EVENT,
    ML_FACTS_LAST_NS,
    ML_FACTS_LAST_END_EVENT,
    ML_FACTS_LAST_END_NS,
    ML_FACTS_STEPS,
    ML_FACTS_FIRST_STEP,
    ML_FACTS_HIGHEST_STEP,
    ML_FACTS_LANDMARKS,   /* 1 if the file has them */
    ML_FACTS_STEPS_BLOCK, /* where the section with the table of steps begins */
    ML_FACTS_SEGMENTS,    /* 1 if the file has copies of the events of pools */
    ML_FACTS_FIELDS,
};

enum ml_list_field {
    ML_LIST_EVENT,
    ML_LIST_NS,
    ML_LIST_STATE,
    ML_LIST_CLASSES,
    ML_LIST_WHOLE,
    ML_LIST_FIELDS,
};

enum ml_steps_field {
    ML_STEPS_NUMBER,
    ML_STEPS_PEAK_EVENT,
    ML_STEPS_PEAK_NS,
    ML_STEPS_END_EVENT,
    ML_STEPS_END_NS,
    ML_STEPS_FIELDS,
};

enum ml_refusals_field {
    ML_REFUSALS_EVENT,
    ML_REFUSALS_NS,
    ML_REFUSALS_BYTES,
    ML_REFUSALS_FIELDS,
};

enum ml_outlines_field {
    ML_OUTLINES_EVENT,
    ML_OUTLINES_NS,
    ML_OUTLINES_BLOCK,
    ML_OUTLINES_UNTIL,
    ML_OUTLINES_FIELDS,
};

/* Of a section of an outline, after those of a state. The last three have a number for each free.
 */
enum ml_outline_tag {
    ML_OUTLINE_GROUPS = 11,
    ML_OUTLINE_GAPS = 12, /* events since the one before */
    ML_OUTLINE_GROUP_OF = 13,
    ML_OUTLINE_SIZES = 14,
};

enum ml_outline_field {
    ML_OUTLINE_SPACE,
    ML_OUTLINE_CATEGORY,
    ML_OUTLINE_SCOPE,
    ML_OUTLINE_THREAD,
    ML_OUTLINE_STACK,
    ML_OUTLINE_LABEL,
    ML_OUTLINE_BLOCKS,
    ML_OUTLINE_BYTES,
    ML_OUTLINE_FIELDS,
};

enum ml_classes_tag {
    ML_CLASSES_CATEGORIES = 1, /* a byte for each allocation */
    ML_CLASSES_LABELS = 2,     /* rows: the allocation's number, the label's string */
};

#endif
