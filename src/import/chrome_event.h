/* chrome_event.h: one complete event of a Chrome trace.
 *
 * Its fields may come in any order; unknown ones are skipped. Texts are stored in one buffer,
 * which the next event reuses.
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
    int token; /* ML_JSON_STRING, ML_JSON_NUMBER, ML_JSON_WORD; 0: missing */
};

struct ml_chrome_arg {
    struct ml_chrome_text key, value;
};

struct ml_chrome_event {
    struct ml_buf texts;
    struct ml_chrome_text fields[ML_CHROME_FIELDS];
    struct ml_chrome_arg args[ML_CHROME_ARGS_MAX]; /* without lists and objects */
    unsigned arg_count;
};

/* Reads an event whose '{' was the last token.
 * @return 1; 0 when the source ended inside it; negative errno */
int ml_chrome_event_read(struct ml_chrome_event *e, struct ml_json_reader *j, struct ml_error *err);
void ml_chrome_event_release(struct ml_chrome_event *e);

/* "" for a missing text. Valid until the next event is read. */
struct ml_slice ml_chrome_text(const struct ml_chrome_event *e, struct ml_chrome_text text);
static inline struct ml_slice ml_chrome_field(const struct ml_chrome_event *e,
                                              enum ml_chrome_field field)
{
    return ml_chrome_text(e, e->fields[field]);
}

/* NULL when no argument has this name. */
const struct ml_chrome_arg *ml_chrome_arg(const struct ml_chrome_event *e, const char *key);

/* The value of such an argument. @return false when it is missing or not an integer */
bool ml_chrome_arg_i64(const struct ml_chrome_event *e, const char *key, int64_t *ret);

/* Microseconds, with an optional fraction, as nanoseconds. */
bool ml_chrome_ns(struct ml_slice text, uint64_t *ret);

/* A number rounded to the nearest integer; false when it is not a number or too large. */
bool ml_chrome_i64(struct ml_slice text, int64_t *ret);

#endif
