/* terminal.c: see terminal.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "terminal.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "io.h"
#include "live_model.h"
#include "utf8.h"

#define ENTER_SCREEN "\x1b[?1049h\x1b[?25l"
#define LEAVE_SCREEN "\x1b[0m\x1b[?25h\x1b[?1049l"
#define ESCAPE_WAIT_MS 20 /* for the rest of a key's sequence */

static volatile sig_atomic_t asked_to_end;

static void on_end(int signal)
{
    (void)signal;
    asked_to_end = 1;
}

static void on_resize(int signal)
{
    (void)signal; /* it ends poll() */
}

bool ml_terminal_is_there(void)
{
    const char *term = getenv("TERM");

    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term && term[0] &&
           strcmp(term, "dumb") != 0;
}

bool ml_terminal_is_utf8(void)
{
    setlocale(LC_CTYPE, "");
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

static void catch_signals(void (*handler)(int), void (*resize)(int))
{
    struct sigaction end = {.sa_handler = handler}, size = {.sa_handler = resize};

    sigaction(SIGINT, &end, NULL);
    sigaction(SIGTERM, &end, NULL);
    sigaction(SIGHUP, &end, NULL);
    sigaction(SIGWINCH, &size, NULL);
}

int ml_terminal_begin(struct ml_terminal *t)
{
    const char *no_colour = getenv("NO_COLOR");
    struct termios raw;

    *t = (struct ml_terminal){.colour = !(no_colour && *no_colour)};
    if (tcgetattr(STDIN_FILENO, &t->before))
        return -errno;
    raw = t->before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    asked_to_end = 0;
    catch_signals(on_end, on_resize);
    if (tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw))
        return -errno;
    return ml_write_all(STDOUT_FILENO, ENTER_SCREEN, strlen(ENTER_SCREEN));
}

void ml_terminal_end(struct ml_terminal *t)
{
    (void)ml_write_all(STDOUT_FILENO, LEAVE_SCREEN, strlen(LEAVE_SCREEN));
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &t->before);
    catch_signals(SIG_DFL, SIG_DFL);
    ml_buf_release(&t->shown);
}

void ml_terminal_size(size_t *ret_width, size_t *ret_height)
{
    struct winsize size;
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col && size.ws_row;

    *ret_width = known ? size.ws_col : 80;
    *ret_height = known ? size.ws_row : 24;
}

/* ---- Drawing -------------------------------------------------------------------- */

static const char *look_of(const struct ml_terminal *t, enum ml_look look)
{
    switch (look) {
    case ML_LOOK_TITLE: return "\x1b[1m";
    case ML_LOOK_SELECTED: return "\x1b[7m";
    case ML_LOOK_DIM: return "\x1b[2m";
    case ML_LOOK_WARNING: return t->colour ? "\x1b[1;31m" : "\x1b[1m";
    case ML_LOOK_PLAIN: break;
    }
    return "";
}

int ml_terminal_draw(struct ml_terminal *t, const struct ml_screen *screen)
{
    struct ml_buf frame = {0};
    int r = screen->error ? screen->error : ml_buf_puts(&frame, "\x1b[H");

    for (size_t i = 0; r == 0 && i < screen->lines.len; i++) {
        const struct ml_screen_line *line = &screen->lines.items[i];

        r = ml_buf_printf(&frame, "%s%s%s\x1b[0m\x1b[K", i ? "\r\n" : "", look_of(t, line->look),
                          line->text);
    }
    if (r == 0)
        r = ml_buf_puts(&frame, "\x1b[J");
    if (r == 0 && (frame.len != t->shown.len || memcmp(frame.data, t->shown.data, frame.len)))
        r = ml_write_all(STDOUT_FILENO, frame.data, frame.len);
    ml_buf_release(&t->shown);
    t->shown = frame;
    return r;
}

/* ---- Keys -------------------------------------------------------------------------- */

static bool wait_for_byte(int timeout_ms)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};

    return poll(&in, 1, timeout_ms) > 0;
}

/* @return the byte, -1: none */
static int next_byte(int timeout_ms)
{
    uint8_t byte;

    return wait_for_byte(timeout_ms) && read(STDIN_FILENO, &byte, 1) == 1 ? byte : -1;
}

/* After ESC [ or ESC O. */
static int64_t sequence_key(void)
{
    int first = next_byte(ESCAPE_WAIT_MS), last = first;

    while (last >= '0' && last <= '9')
        last = next_byte(ESCAPE_WAIT_MS);
    switch (last) {
    case 'A': return ML_KEY_UP;
    case 'B': return ML_KEY_DOWN;
    case 'C': return ML_KEY_RIGHT;
    case 'D': return ML_KEY_LEFT;
    case 'H': return ML_KEY_HOME;
    case 'F': return ML_KEY_END;
    case '~': break;
    default: return 0;
    }
    switch (first) {
    case '1':
    case '7': return ML_KEY_HOME;
    case '4':
    case '8': return ML_KEY_END;
    case '5': return ML_KEY_PAGE_UP;
    case '6': return ML_KEY_PAGE_DOWN;
    default: return 0;
    }
}

static int64_t escape_key(void)
{
    int next = next_byte(ESCAPE_WAIT_MS);

    if (next < 0)
        return ML_KEY_ESCAPE;
    return next == '[' || next == 'O' ? sequence_key() : 0;
}

static int64_t character(uint8_t first)
{
    char bytes[ML_UTF8_MAX_BYTES] = {(char)first};
    size_t want = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1, len = 1;
    uint32_t code = 0;

    while (len < want) {
        int byte = next_byte(ESCAPE_WAIT_MS);

        if (byte < 0)
            return 0;
        bytes[len++] = (char)byte;
    }
    return ml_utf8_decode(bytes, len, &code) ? code : 0;
}

int64_t ml_terminal_key(struct ml_terminal *t, int timeout_ms)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    uint8_t byte;

    (void)t;
    if (asked_to_end)
        return -EINTR;
    if (poll(&in, 1, timeout_ms) <= 0)
        return asked_to_end ? -EINTR : 0;
    if (read(STDIN_FILENO, &byte, 1) != 1)
        return -EPIPE;
    switch (byte) {
    case '\x1b': return escape_key();
    case '\r':
    case '\n': return ML_KEY_ENTER;
    case '\b':
    case 0x7f: return ML_KEY_BACK;
    case '\t': return ML_KEY_TAB;
    default: return character(byte);
    }
}
