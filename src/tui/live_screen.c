/* live_screen.c: see live_screen.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "live_screen.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "live_report.h"
#include "text.h"

#define DEVICES_MAX 8
#define SPARK_MIN 10
#define NAME_MIN 12

static const char *const help[] = {
    "Up, Down, j, k   select a row           Page Up, Page Down, Home, End",
    "Enter, Right     open the row: its blocks by the next key",
    "Backspace, Left  back",
    "Tab              another list: process, device, category, module, line, label",
    "o                order: bytes, peak, growth, name",
    "/                show only names that contain a text; Esc shows all",
    "space            freeze the screen, and go on",
    "s                save the state as a JSON file in this folder",
    "q                quit; the recording goes on, come back at any time",
    "",
    "now: live bytes. peak: of a device or a process, its highest; of a row, the most",
    "seen since its list was opened. last minute: growth over it, or since then.",
    "driver: what the processes use by the driver's (host: the kernel's) own account.",
};

/* ---- Sparklines -------------------------------------------------------------- */

static const char *bar(bool utf8, unsigned level)
{
    static const char *const blocks[] = {" ",
                                         "\xe2\x96\x81",
                                         "\xe2\x96\x82",
                                         "\xe2\x96\x83",
                                         "\xe2\x96\x84",
                                         "\xe2\x96\x85",
                                         "\xe2\x96\x86",
                                         "\xe2\x96\x87",
                                         "\xe2\x96\x88"};
    static const char *const plain[] = {" ", ".", ":", "-", "=", "+", "*", "%", "#"};

    return utf8 ? blocks[level] : plain[level];
}

static uint64_t highest_within(const struct ml_second_history *h, uint64_t from, uint64_t to)
{
    uint64_t highest = 0;

    for (uint64_t s = from; s <= to; s++)
        highest = ml_max_u64(highest, h->values[s % ML_HISTORY_SECONDS]);
    return highest;
}

const char *ml_sparkline(struct ml_screen *screen, const struct ml_second_history *h,
                         size_t columns)
{
    struct ml_buf text = {0};
    uint64_t known = h && h->begun ? h->last - h->first + 1 : 0;
    uint64_t each = (ML_HISTORY_SECONDS + columns - 1) / (columns ? columns : 1);
    uint64_t highest = known ? highest_within(h, h->first, h->last) : 0;
    const char *copy;

    if (known <= columns)
        each = 1;
    for (size_t i = 0; i < columns; i++) {
        uint64_t back = (columns - 1 - i) * each, to, from;
        unsigned level = 0;

        if (back < known) {
            to = h->last - back;
            from = to - h->first >= each - 1 ? to - (each - 1) : h->first;
            level =
                highest ? (unsigned)((highest_within(h, from, to) * 8 + highest - 1) / highest) : 0;
        }
        if (ml_buf_puts(&text, bar(screen->utf8, level)) < 0)
            screen->error = -ENOMEM;
    }
    copy = ml_arena_dup(&screen->arena, text.data ? (const char *)text.data : "", text.len);
    ml_buf_release(&text);
    return copy ? copy : "";
}

/* ---- Parts ---------------------------------------------------------------------- */

static void put_head(const struct ml_live_model *model, const struct ml_live_view *view,
                     const char *file, struct ml_screen *screen)
{
    char words[ML_LIVE_STATE_ROOM], time[32], rate[32], length[32];
    char step[96] = "", pace[64] = "", lost[64] = "", ooms[64] = "", ended[40] = "";
    char end[ML_LIVE_END_ROOM];

    ml_screen_line(screen, ML_LOOK_TITLE, "memledger live  %s  %s%s", ml_base_name(file),
                   ml_live_state_words(words, view), model->frozen ? "  FROZEN (space)" : "");
    ml_screen_line(screen, ML_LOOK_PLAIN, "%s", view->command ? view->command : "");
    if (view->steps > 0)
        snprintf(step, sizeof(step), "  step %llu%s%s", (unsigned long long)view->step_number,
                 view->step_length_ns ? ", last took " : "",
                 view->step_length_ns ? ml_format_duration_ns(length, (int64_t)view->step_length_ns)
                                      : "");
    if (view->ended_processes > 0)
        snprintf(ended, sizeof(ended), " (%zu ended)", view->ended_processes);
    if (view->lost > 0)
        snprintf(lost, sizeof(lost), "  %llu EVENTS LOST", (unsigned long long)view->lost);
    if (view->refusals > 0)
        snprintf(ooms, sizeof(ooms), "  %llu OUT OF MEMORY", (unsigned long long)view->refusals);
    if (!view->at_end)
        snprintf(pace, sizeof(pace), "  %s allocations/s",
                 ml_format_count(rate, (int64_t)view->allocations_per_second));
    ml_screen_line(screen, view->lost || view->refusals ? ML_LOOK_WARNING : ML_LOOK_PLAIN,
                   "%s%s%s  %zu process%s%s%s%s%s%s", view->host ? view->host : "",
                   view->host ? "  " : "", ml_format_duration_ns(time, (int64_t)view->time_ns),
                   view->processes.len, view->processes.len == 1 ? "" : "es", ended, step, pace,
                   lost, ooms);
    if (view->at_end)
        ml_screen_line(screen, ML_LOOK_PLAIN, "%s", ml_live_end_words(end, view, file));
}

static void put_device(const struct ml_live_device *d, struct ml_screen *screen)
{
    char now[32], peak[32], growth[40], ours[32], unexplained[32];
    size_t fixed = 10 + 4 * 12 + 13;
    size_t spark = screen->width > fixed + SPARK_MIN + 2 ? screen->width - fixed - 2 : 0;

    ml_screen_line(
        screen, ML_LOOK_PLAIN, "%s%12s%12s%12s%12s%13s  %s", ml_screen_fit(screen, d->name, 10),
        ml_format_bytes(now, (int64_t)d->bytes, ML_UNIT_AUTO),
        ml_format_bytes(peak, (int64_t)d->peak_bytes, ML_UNIT_AUTO),
        ml_live_growth(growth, d->growth_bytes, ML_UNIT_AUTO),
        d->ours.known ? ml_format_bytes(ours, (int64_t)d->ours.bytes, ML_UNIT_AUTO) : "",
        d->has_unexplained ? ml_format_bytes(unexplained, d->unexplained_bytes, ML_UNIT_AUTO) : "",
        spark ? ml_sparkline(screen, d->history, spark) : "");
}

static void put_devices(const struct ml_live_view *view, struct ml_screen *screen)
{
    size_t shown = view->devices.len < DEVICES_MAX ? view->devices.len : DEVICES_MAX;

    ml_screen_line(screen, ML_LOOK_DIM, "%-10s%12s%12s%12s%12s%13s  last 5 minutes", "device",
                   ml_live_now_title(view), "peak", "last minute", "driver", "unexplained");
    if (shown == 0)
        ml_screen_line(screen, ML_LOOK_PLAIN, "%s", ML_LIVE_NO_MEMORY);
    for (size_t i = 0; i < shown; i++)
        put_device(&view->devices.items[i], screen);
    if (shown < view->devices.len)
        ml_screen_line(screen, ML_LOOK_DIM, "and %zu more devices (Tab lists them)",
                       view->devices.len - shown);
}

/* The name of a row, or of a block's key, that may be empty. */
static const char *name_or_none(const char *name, enum ml_key key, char text[32])
{
    if (name[0])
        return name;
    snprintf(text, 32, "(no %s)", ml_key_name(key));
    return text;
}

static void put_path(const struct ml_live_model *model, struct ml_screen *screen)
{
    const struct ml_live_question *q = &model->question;
    struct ml_buf path = {0};
    char none[32];

    for (size_t i = 0; i < q->filter_count; i++)
        if (ml_buf_printf(&path, "%s > ",
                          name_or_none(q->filters[i].name, q->filters[i].key, none)) < 0)
            screen->error = -ENOMEM;
    ml_screen_line(screen, ML_LOOK_TITLE, "%sby %s, %zu row%s, order: %s%s%s%s",
                   path.data ? (const char *)path.data : "", ml_key_name(q->by), model->rows.len,
                   model->rows.len == 1 ? "" : "s", ml_live_sort_name(model->sort),
                   model->text[0] || model->typing ? "  /" : "", model->text,
                   model->typing ? "_" : "");
    ml_buf_release(&path);
}

static void put_row(const struct ml_live_row *row, enum ml_key by, bool selected,
                    struct ml_screen *screen)
{
    char now[32], peak[32], growth[40], blocks[32], none[32];
    size_t fixed = 12 + 9 + 12 + 13 + 11;
    size_t name = screen->width > fixed + NAME_MIN ? screen->width - fixed : NAME_MIN;

    ml_screen_line(screen, selected ? ML_LOOK_SELECTED : ML_LOOK_PLAIN,
                   "%s%12s%7.1f %%%12s%13s%11s",
                   ml_screen_fit(screen, name_or_none(row->name, by, none), name),
                   ml_format_bytes(now, (int64_t)row->bytes, ML_UNIT_AUTO), row->percent,
                   ml_format_bytes(peak, (int64_t)row->peak_bytes, ML_UNIT_AUTO),
                   row->has_growth ? ml_live_growth(growth, row->growth_bytes, ML_UNIT_AUTO) : "",
                   ml_format_count(blocks, (int64_t)row->blocks));
}

static void scroll(struct ml_live_model *model, size_t page)
{
    if (model->selected < model->first)
        model->first = model->selected;
    if (page > 0 && model->selected >= model->first + page)
        model->first = model->selected - page + 1;
    if (model->rows.len <= page)
        model->first = 0;
}

static size_t put_rows(struct ml_live_model *model, const struct ml_live_view *view,
                       struct ml_screen *screen)
{
    size_t fixed = 12 + 9 + 12 + 13 + 11, page;
    size_t name = screen->width > fixed + NAME_MIN ? screen->width - fixed : NAME_MIN;

    ml_screen_line(screen, ML_LOOK_DIM, "%s%12s%9s%12s%13s%11s",
                   ml_screen_fit(screen, ml_key_name(model->question.by), name),
                   ml_live_now_title(view), "share", "peak", "last minute", "blocks");
    page = screen->height > screen->lines.len + 1 ? screen->height - screen->lines.len - 1 : 0;
    scroll(model, page);
    for (size_t i = 0; i < page && model->first + i < model->rows.len; i++)
        put_row(&model->rows.items[model->first + i], model->question.by,
                model->first + i == model->selected, screen);
    return page;
}

size_t ml_live_screen(struct ml_live_model *model, const struct ml_live_view *view,
                      const char *file, struct ml_screen *screen)
{
    size_t page = 1;

    put_head(model, view, file, screen);
    put_devices(view, screen);
    ml_screen_line(screen, ML_LOOK_PLAIN, "%s", "");
    if (model->help) {
        for (size_t i = 0; i < ML_ARRAY_SIZE(help); i++)
            ml_screen_line(screen, ML_LOOK_PLAIN, "%s", help[i]);
    } else {
        put_path(model, screen);
        if (view->awaits_names)
            ml_screen_line(screen, ML_LOOK_DIM, "%s", ML_LIVE_AWAITS_NAMES);
        page = put_rows(model, view, screen);
    }
    ml_screen_fill(screen, screen->height - 1);
    ml_screen_line(screen, ML_LOOK_DIM, "%s",
                   model->note[0] ? model->note
                   : model->typing
                       ? "type a part of a name, Enter ends, Esc shows all"
                       : "Enter open  Backspace back  Tab list  o order  / find  space freeze  "
                         "s save  ? help  q quit");
    return page;
}
