/* live_model.h: what the live view shows and how keys change it. It knows no terminal: keys come
 * in, a question for live_view.h and a list of rows come out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TUI_LIVE_MODEL_H
#define ML_TUI_LIVE_MODEL_H

#include <stdbool.h>

#include "live_view.h"

/* Keys that are not characters. */
enum ml_live_key {
    ML_KEY_UP = 0x110000, /* above all characters */
    ML_KEY_DOWN,
    ML_KEY_LEFT,
    ML_KEY_RIGHT,
    ML_KEY_PAGE_UP,
    ML_KEY_PAGE_DOWN,
    ML_KEY_HOME,
    ML_KEY_END,
    ML_KEY_ENTER,
    ML_KEY_BACK,
    ML_KEY_ESCAPE,
    ML_KEY_TAB,
};

enum ml_live_action { ML_LIVE_GO_ON, ML_LIVE_QUIT, ML_LIVE_SAVE, ML_LIVE_ASK };

enum ml_live_sort { ML_SORT_BYTES, ML_SORT_PEAK, ML_SORT_GROWTH, ML_SORT_NAME, ML_SORTS };

#define ML_LIVE_TEXT_MAX 120

struct ml_live_model {
    struct ml_live_question question;
    char names[ML_LIVE_FILTERS][512]; /* of its filters */
    enum ml_live_sort sort;
    char text[ML_LIVE_TEXT_MAX + 1]; /* only rows whose name contains it, in any case */
    bool typing;                     /* the text */
    bool help;
    bool frozen;
    size_t selected, first; /* among the rows that are shown */
    char selected_name[512];
    char note[160]; /* a line for the user, until the next key */
    /* The rows of the last view that pass the text, in order. */
    ML_VEC(struct ml_live_row) rows;
};

/* @by   the key of the first list */
void ml_live_model_init(struct ml_live_model *model, enum ml_key by);
void ml_live_model_release(struct ml_live_model *model);

/* Chooses and sorts the rows of a view; the selected name stays selected. The view must outlive
 * them.
 * @return 0 or -ENOMEM */
int ml_live_model_show(struct ml_live_model *model, const struct ml_live_view *view);

/* ML_LIVE_ASK: the question has changed. */
enum ml_live_action ml_live_model_key(struct ml_live_model *model, uint32_t key, size_t page_rows);

/* "bytes", "peak", "growth", "name". */
const char *ml_live_sort_name(enum ml_live_sort sort);

#endif
