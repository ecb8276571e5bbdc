/* live_model.c: see live_model.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "live_model.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "utf8.h"

/* Enter leads from each to the next that no filter has. Tab goes through all. */
static const enum ml_key chain[] = {ML_KEY_PROCESS, ML_KEY_DEVICE, ML_KEY_CATEGORY,
                                    ML_KEY_MODULE,  ML_KEY_LINE,   ML_KEY_LABEL};

#define ROWS_ASKED 2000

void ml_live_model_init(struct ml_live_model *model, enum ml_key by)
{
    *model = (struct ml_live_model){.question = {.by = by, .top = ROWS_ASKED}};
}

void ml_live_model_release(struct ml_live_model *model)
{
    ml_vec_release(&model->rows);
}

const char *ml_live_sort_name(enum ml_live_sort sort)
{
    static const char *const names[] = {"bytes", "peak", "growth", "name"};

    return names[sort];
}

/* ---- Rows ---------------------------------------------------------------------- */

static int by_numbers(uint64_t x, uint64_t y)
{
    return x < y ? 1 : x > y ? -1 : 0;
}

static int by_bytes(const void *a, const void *b)
{
    const struct ml_live_row *x = a, *y = b;
    int order = by_numbers(x->bytes, y->bytes);

    return order ? order : strcmp(x->name, y->name);
}

static int by_peak(const void *a, const void *b)
{
    const struct ml_live_row *x = a, *y = b;
    int order = by_numbers(x->peak_bytes, y->peak_bytes);

    return order ? order : by_bytes(a, b);
}

static int by_growth(const void *a, const void *b)
{
    const struct ml_live_row *x = a, *y = b;

    if (x->growth_bytes != y->growth_bytes)
        return x->growth_bytes < y->growth_bytes ? 1 : -1;
    return by_bytes(a, b);
}

static int by_name(const void *a, const void *b)
{
    const struct ml_live_row *x = a, *y = b;

    return strcmp(x->name, y->name);
}

static void keep_selected(struct ml_live_model *model)
{
    for (size_t i = 0; model->selected_name[0] && i < model->rows.len; i++)
        if (strcmp(model->rows.items[i].name, model->selected_name) == 0)
            model->selected = i;
    if (model->selected >= model->rows.len)
        model->selected = model->rows.len ? model->rows.len - 1 : 0;
}

int ml_live_model_show(struct ml_live_model *model, const struct ml_live_view *view)
{
    static int (*const orders[])(const void *, const void *) = {by_bytes, by_peak, by_growth,
                                                                by_name};

    model->rows.len = 0;
    for (size_t i = 0; i < view->rows.len; i++) {
        if (model->text[0] && !strcasestr(view->rows.items[i].name, model->text))
            continue;
        if (ml_vec_push(&model->rows, view->rows.items[i]) < 0)
            return -ENOMEM;
    }
    ml_vec_sort(&model->rows, orders[model->sort]);
    keep_selected(model);
    return 0;
}

/* ---- Keys ------------------------------------------------------------------------ */

static void select_row(struct ml_live_model *model, size_t row)
{
    model->selected = model->rows.len == 0 ? 0 : row < model->rows.len ? row : model->rows.len - 1;
    model->selected_name[0] = '\0';
    if (model->rows.len > 0)
        snprintf(model->selected_name, sizeof(model->selected_name), "%s",
                 model->rows.items[model->selected].name);
}

static bool is_filtered(const struct ml_live_question *q, enum ml_key key)
{
    for (size_t i = 0; i < q->filter_count; i++)
        if (q->filters[i].key == key)
            return true;
    return false;
}

static void ask_anew(struct ml_live_model *model)
{
    model->selected = model->first = 0;
    model->selected_name[0] = '\0';
    model->text[0] = '\0';
}

static enum ml_live_action open_row(struct ml_live_model *model)
{
    struct ml_live_question *q = &model->question;
    struct ml_live_filter *filter = &q->filters[q->filter_count];
    char *name = model->names[q->filter_count];
    size_t place = 0;

    if (model->rows.len == 0 || q->filter_count == ML_LIVE_FILTERS)
        return ML_LIVE_GO_ON;
    while (place < ML_ARRAY_SIZE(chain) && chain[place] != q->by)
        place++;
    for (size_t i = 1; i < ML_ARRAY_SIZE(chain); i++) {
        enum ml_key next = chain[(place + i) % ML_ARRAY_SIZE(chain)];

        if (is_filtered(q, next) || next == q->by)
            continue;
        if (strlen(model->rows.items[model->selected].name) >= sizeof(model->names[0]))
            return ML_LIVE_GO_ON;
        strcpy(name, model->rows.items[model->selected].name);
        *filter = (struct ml_live_filter){q->by, name};
        q->filter_count++;
        q->by = next;
        ask_anew(model);
        return ML_LIVE_ASK;
    }
    return ML_LIVE_GO_ON;
}

static enum ml_live_action go_back(struct ml_live_model *model)
{
    struct ml_live_question *q = &model->question;

    if (q->filter_count == 0)
        return ML_LIVE_GO_ON;
    q->by = q->filters[--q->filter_count].key;
    ask_anew(model);
    return ML_LIVE_ASK;
}

static enum ml_live_action next_list(struct ml_live_model *model)
{
    struct ml_live_question *q = &model->question;
    size_t place = 0;

    while (place < ML_ARRAY_SIZE(chain) && chain[place] != q->by)
        place++;
    do
        place = (place + 1) % ML_ARRAY_SIZE(chain);
    while (is_filtered(q, chain[place]));
    q->by = chain[place];
    ask_anew(model);
    return ML_LIVE_ASK;
}

static void type_text(struct ml_live_model *model, uint32_t key)
{
    size_t len = strlen(model->text);
    char bytes[ML_UTF8_MAX_BYTES];
    size_t count;

    switch (key) {
    case ML_KEY_ENTER: model->typing = false; return;
    case ML_KEY_ESCAPE:
        model->typing = false;
        model->text[0] = '\0';
        return;
    case ML_KEY_BACK:
        while (len > 0 && ((uint8_t)model->text[len - 1] & 0xc0) == 0x80)
            len--;
        model->text[len > 0 ? len - 1 : 0] = '\0';
        return;
    default: break;
    }
    if (key < ' ' || key >= ML_KEY_UP)
        return;
    count = ml_utf8_encode(key, bytes);
    if (len + count <= ML_LIVE_TEXT_MAX) {
        memcpy(model->text + len, bytes, count);
        model->text[len + count] = '\0';
    }
}

static void move(struct ml_live_model *model, uint32_t key, size_t page_rows)
{
    size_t row = model->selected;

    switch (key) {
    case ML_KEY_UP: row -= row > 0; break;
    case ML_KEY_DOWN: row++; break;
    case ML_KEY_PAGE_UP: row -= row < page_rows ? row : page_rows; break;
    case ML_KEY_PAGE_DOWN: row += page_rows; break;
    case ML_KEY_HOME: row = 0; break;
    case ML_KEY_END: row = model->rows.len; break;
    default: return;
    }
    select_row(model, row);
}

enum ml_live_action ml_live_model_key(struct ml_live_model *model, uint32_t key, size_t page_rows)
{
    model->note[0] = '\0';
    if (model->typing) {
        type_text(model, key);
        return ML_LIVE_GO_ON;
    }
    if (model->help && key != 'q') {
        model->help = false;
        return ML_LIVE_GO_ON;
    }
    switch (key) {
    case 'q': return ML_LIVE_QUIT;
    case 's': return ML_LIVE_SAVE;
    case '?':
    case 'h': model->help = true; break;
    case ' ': model->frozen = !model->frozen; break;
    case '/': model->typing = true; break;
    case 'o': model->sort = (model->sort + 1) % ML_SORTS; break;
    case ML_KEY_ENTER:
    case ML_KEY_RIGHT: return open_row(model);
    case ML_KEY_BACK:
    case ML_KEY_LEFT: return go_back(model);
    case ML_KEY_ESCAPE: model->text[0] = '\0'; break;
    case ML_KEY_TAB: return next_list(model);
    case 'j': move(model, ML_KEY_DOWN, page_rows); break;
    case 'k': move(model, ML_KEY_UP, page_rows); break;
    default: move(model, key, page_rows);
    }
    return ML_LIVE_GO_ON;
}
