/* chrome_event.h: one event of a Chrome trace, read whole.
 *
 * Its fields may stand in any order; what is not known is passed over. Texts are kept
 * in one buffer that the next event uses again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CHROME_EVENT_H
#define ML_CHROME_EVENT_H

#include "json_reader.h"

#define ML_CHROME_ARGS_MAX 64

enum ml_chrome_field {
    ML_CHROME_NAME,
    ML_CHROME_CAT,
    ML_CHROME_PH,
    ML_CHROME_TS,
    ML_CHROME_DUR,
    ML_CHROME_PID,
    ML_CHROME_TID,
    ML_CHROME_ID,
    ML_CHROME_S,
    ML_CHROME_FIELDS,
};

/* A text in the event's buffer. */
struct ml_chrome_text {
    size_t at, len;
    int token; /* ML_JSON_STRING, ML_JSON_NUMBER, ML_JSON_WORD; 0: not there */
};

struct ml_chrome_arg {
    struct ml_chrome_text key, value;
};

struct ml_chrome_event {
    struct ml_buf texts;
    struct ml_chrome_text fields[ML_CHROME_FIELDS];
    struct ml_chrome_arg args[ML_CHROME_ARGS_MAX]; /* those that are no lists or objects */
    unsigned arg_count;
};

/* Reads an event whose '{' was the last token.
 * @return 1; 0 when the source ended in it; negative */
int ml_chrome_event_read(struct ml_chrome_event *e, struct ml_json_reader *j, struct ml_error *err);
void ml_chrome_event_release(struct ml_chrome_event *e);

/* "" for what is not there. Valid until the next event is read. */
struct ml_slice ml_chrome_text(const struct ml_chrome_event *e, struct ml_chrome_text text);
static inline struct ml_slice ml_chrome_field(const struct ml_chrome_event *e,
                                              enum ml_chrome_field field)
{
    return ml_chrome_text(e, e->fields[field]);
}

/* NULL when there is none of this name. */
const struct ml_chrome_arg *ml_chrome_arg(const struct ml_chrome_event *e, const char *key);

/* The value of such an argument. @return false when it is not there, or no whole number */
bool ml_chrome_arg_i64(const struct ml_chrome_event *e, const char *key, int64_t *ret);

/* Microseconds, with a fraction perhaps, as nanoseconds. */
bool ml_chrome_ns(struct ml_slice text, uint64_t *ret);

/* A number as a whole one, to the nearest; false when it is none or too large. */
bool ml_chrome_i64(struct ml_slice text, int64_t *ret);

#endif
