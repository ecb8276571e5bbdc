/* live_report.h: the state of a followed run, as text and as JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_LIVE_REPORT_H
#define ML_REPORT_LIVE_REPORT_H

#include "live_view.h"
#include "style.h"

#define ML_LIVE_AWAITS_NAMES                                                                       \
    "native functions are shown as library+offset: their names follow when the recording ends"

#define ML_LIVE_NO_MEMORY "no memory recorded so far"

/* "+1.2 MiB", "-3 B", "0 B". @return buf */
const char *ml_live_growth(char buf[40], int64_t bytes, enum ml_unit unit);

#define ML_LIVE_STATE_ROOM 96

/* "recording, last event 0.3 s ago", "paused for 3 s …", "ended", "not finished". @return buf, or
 * a constant */
const char *ml_live_state_words(char buf[ML_LIVE_STATE_ROOM], const struct ml_live_view *view);

#define ML_LIVE_END_ROOM 512

/* What the figures of a recording that has ended mean, and which commands show more. @return buf,
 * or "" while it goes on */
const char *ml_live_end_words(char buf[ML_LIVE_END_ROOM], const struct ml_live_view *view,
                              const char *file);

/* The title of the column of live bytes: "now"; "at end", "last" of a recording that has ended. */
const char *ml_live_now_title(const struct ml_live_view *view);

/* One line for devices, steps and rates; a list cannot be longer than a terminal, so it is one line
 * for each device. For terminals without cursor, and for logs.
 * @file   as for ml_live_text
 * @return 0 or negative errno */
int ml_live_line(const struct ml_live_view *view, const char *file, const struct ml_style *style,
                 struct ml_buf *out);

/* The whole state, with the rows of the question.
 * @file   the trace's name as the user gave it
 * @return 0 or negative errno */
int ml_live_text(const struct ml_live_view *view, const struct ml_live_question *question,
                 const char *file, const struct ml_style *style, struct ml_buf *out);

/* @pretty  over several lines; else in one, with a line break at its end */
int ml_live_json(const struct ml_live_view *view, const struct ml_live_question *question,
                 const char *file, bool pretty, struct ml_buf *out);

#endif
