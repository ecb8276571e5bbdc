/* live_loop.c: see live_loop.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "live_loop.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "io.h"
#include "live_report.h"
#include "live_screen.h"
#include "nanoseconds.h"
#include "output_file.h"
#include "terminal.h"

/* Adding up the live blocks takes time that grows with their number. At most this part of a core
 * goes into it: with many blocks the list is made less often than the screen is drawn. */
#define VIEW_SHARE 200 /* one part in … */
#define BETWEEN_REQUESTS_MS 1000

struct shown {
    struct ml_following *f;
    const char *file;
    struct ml_live_model model;
    struct ml_live_view view;
    uint64_t next_view_ns; /* when the list may be made again */
    bool has_view;
    bool stale; /* there is something new to show */
};

/* @return 1 if there is anything new, 0, or negative errno */
static int read_on(struct ml_following *f, struct ml_error *err)
{
    bool was_shown = f->end.is_shown;
    int r = ml_following_poll(f, err);
    int shown = r < 0 ? r : ml_following_show_end(f, err);

    return shown < 0 ? shown : r > 0 || f->end.is_shown != was_shown;
}

/* ---- The terminal ---------------------------------------------------------------- */

static int make_view(struct shown *s, struct ml_error *err)
{
    uint64_t cpu = ml_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    struct ml_live_view view;
    int r = ml_live_view(s->f, &s->model.question, &view, err);

    if (r < 0) {
        ml_live_view_release(&view);
        return r;
    }
    if (s->has_view)
        ml_live_view_release(&s->view);
    s->view = view;
    s->has_view = true;
    s->stale = false;
    cpu = ml_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    s->next_view_ns = ml_clock_ns(CLOCK_MONOTONIC) + cpu * VIEW_SHARE;
    return 0;
}

static int save(struct shown *s)
{
    char name[64];
    time_t now = time(NULL);
    struct tm tm;
    struct ml_buf text = {0};
    FILE *f;
    int r = ml_live_json(&s->view, &s->model.question, s->file, true, &text);

    localtime_r(&now, &tm);
    strftime(name, sizeof(name), "memledger-live-%Y%m%d-%H%M%S.json", &tm);
    f = r == 0 ? fopen(name, "wxe") : NULL;
    if (f && fwrite(text.data, 1, text.len, f) == text.len && fclose(f) == 0)
        snprintf(s->model.note, sizeof(s->model.note), "saved %s", name);
    else
        snprintf(s->model.note, sizeof(s->model.note), "cannot save %s: %s", name,
                 strerror(r < 0 ? -r : errno));
    ml_buf_release(&text);
    return r;
}

static int draw(struct shown *s, struct ml_terminal *t, bool utf8, size_t *ret_page)
{
    struct ml_screen screen;
    size_t width, height;
    int r = ml_live_model_show(&s->model, &s->view);

    if (r < 0)
        return r;
    ml_terminal_size(&width, &height);
    ml_screen_init(&screen, width, height, utf8);
    *ret_page = ml_live_screen(&s->model, &s->view, s->file, &screen);
    r = ml_terminal_draw(t, &screen);
    ml_screen_release(&screen);
    return r;
}

/* @return 1 to quit, 0, or negative errno */
static int take_key(struct shown *s, int64_t key, size_t page, struct ml_error *err)
{
    if (key == -EINTR || key == -EPIPE)
        return 1;
    if (key <= 0)
        return 0;
    switch (ml_live_model_key(&s->model, (uint32_t)key, page)) {
    case ML_LIVE_QUIT: return 1;
    case ML_LIVE_SAVE: (void)save(s); return 0;
    case ML_LIVE_ASK: return make_view(s, err);
    case ML_LIVE_GO_ON: break;
    }
    return 0;
}

static int refresh(struct shown *s, struct ml_error *err)
{
    int r = read_on(s->f, err);

    if (r < 0)
        return r;
    /* Ages and rates change without events, too. */
    s->stale |=
        r > 0 || ml_following_now(s->f) / ML_NS_PER_SECOND != s->view.time_ns / ML_NS_PER_SECOND;
    if (!s->stale || s->model.frozen || ml_clock_ns(CLOCK_MONOTONIC) < s->next_view_ns)
        return 0;
    return make_view(s, err);
}

static int show(struct shown *s, struct ml_terminal *t, double hz, struct ml_error *err)
{
    bool utf8 = ml_terminal_is_utf8();
    size_t page = 1;
    int r = 0;

    while (r == 0) {
        r = draw(s, t, utf8, &page);
        if (r == 0)
            r = take_key(s, ml_terminal_key(t, (int)(1000 / hz)), page, err);
        if (r == 0)
            r = refresh(s, err);
    }
    return r > 0 ? 0 : r;
}

int ml_live_on_terminal(struct ml_following *f, const char *file, enum ml_key by, double hz,
                        struct ml_error *err)
{
    struct shown s = {.f = f, .file = file};
    struct ml_terminal terminal;
    int r;

    ml_live_model_init(&s.model, by);
    r = make_view(&s, err);
    if (r == 0) {
        r = ml_terminal_begin(&terminal);
        if (r < 0)
            ml_error_set(err, r, "cannot use the terminal: %s", strerror(-r));
    }
    if (r == 0) {
        r = show(&s, &terminal, hz, err);
        ml_terminal_end(&terminal);
    }
    if (r < 0 && !err->code)
        ml_error_set(err, r, "cannot draw: %s", strerror(-r));
    if (s.has_view)
        ml_live_view_release(&s.view);
    ml_live_model_release(&s.model);
    return r;
}

/* ---- Lines ------------------------------------------------------------------------- */

static int print_once(struct ml_following *f, const char *file,
                      const struct ml_live_question *question, bool json,
                      const struct ml_style *style, struct ml_error *err)
{
    struct ml_live_view view;
    struct ml_buf text = {0};
    int r = ml_live_view(f, question, &view, err);

    if (r == 0)
        r = json ? ml_live_json(&view, question, file, false, &text)
                 : ml_live_line(&view, file, style, &text);
    if (r == 0)
        r = ml_write_all(STDOUT_FILENO, text.data, text.len);
    if (r < 0 && !err->code)
        ml_error_set(err, r, "cannot write: %s", strerror(-r));
    ml_buf_release(&text);
    ml_live_view_release(&view);
    return r;
}

int ml_live_in_lines(struct ml_following *f, const char *file,
                     const struct ml_live_question *question, bool json,
                     const struct ml_style *style, struct ml_error *err)
{
    for (;;) {
        int r = print_once(f, file, question, json, style, err);

        if (r < 0 || !ml_trace_info(f->trace)->being_written)
            return r;
        sleep(1);
        r = read_on(f, err);
        if (r < 0)
            return r;
    }
}

/* @return false at the end of standard input */
static bool read_request(void)
{
    int c;

    while ((c = getchar()) != EOF && c != '\n')
        ;
    return c != EOF;
}

/* Reads on meanwhile, so that an answer never has to wait for the events of minutes. */
static int await_request(struct ml_following *f, struct ml_error *err)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    int r = 0;

    while (r >= 0 && poll(&input, 1, BETWEEN_REQUESTS_MS) == 0)
        r = ml_following_poll(f, err);
    return r;
}

int ml_live_on_request(struct ml_following *f, const char *file,
                       const struct ml_live_question *question, struct ml_error *err)
{
    int r;

    setvbuf(stdin, NULL, _IONBF, 0); /* poll() does not know of a buffer */
    while ((r = await_request(f, err)) >= 0 && read_request()) {
        r = read_on(f, err);
        if (r >= 0 && f->postponed) /* nothing longer comes at once: the last block is the answer */
            r = read_on(f, err);
        if (r >= 0)
            r = print_once(f, file, question, true, NULL, err);
        if (r < 0)
            break;
    }
    return r < 0 ? r : 0;
}
