/* proc_stat.c: see proc_stat.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "proc_stat.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LINE_ROOM 1024
/* Fields after the state, counted from 1. */
#define FIELD_PARENT 1
#define FIELD_USER_TIME 11
#define FIELD_SYSTEM_TIME 12
#define FIELD_START_TIME 19
#define FIELD_EXIT_STATUS 49

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static uint64_t number_at(const char *text)
{
    uint64_t n = 0;

    for (; is_digit(*text); text++)
        n = 10 * n + (uint64_t)(*text - '0');
    return n;
}

/* The n-th field after this one; NULL if there are fewer. */
static const char *field_after(const char *text, unsigned n)
{
    for (; text && n; n--) {
        text = strchr(text, ' ');
        text = text ? text + 1 : NULL;
    }
    return text;
}

bool ml_proc_stat_parse(const char *line, struct ml_proc_stat *ret)
{
    /* The name before it may contain blanks and parentheses. */
    const char *name_end = strrchr(line, ')');
    const char *state = name_end ? field_after(name_end, 1) : NULL;
    const char *start = state ? field_after(state, FIELD_START_TIME) : NULL;
    const char *status = state ? field_after(state, FIELD_EXIT_STATUS) : NULL;

    if (!start || !is_digit(*start))
        return false;
    *ret = (struct ml_proc_stat){
        .pid = (uint32_t)number_at(line),
        .parent = (uint32_t)number_at(field_after(state, FIELD_PARENT)),
        .state = *state,
        .cpu_ticks = number_at(field_after(state, FIELD_USER_TIME)) +
                     number_at(field_after(state, FIELD_SYSTEM_TIME)),
        .start_ticks = number_at(start),
        .exit_status = status ? (uint32_t)number_at(status) : 0,
    };
    return true;
}

static char *put_text(char *to, const char *text)
{
    size_t len = strlen(text);

    memcpy(to, text, len + 1);
    return to + len;
}

static char *put_number(char *to, uint32_t n)
{
    char digits[11];
    char *p = digits + sizeof(digits) - 1;

    *p = '\0';
    do
        *--p = (char)('0' + n % 10);
    while (n /= 10);
    return put_text(to, p);
}

/* Bypasses libc's wrappers: they are cancellation points, and other libraries may interpose
 * them. */
static bool read_line(const char *path, char line[LINE_ROOM])
{
    long fd = syscall(SYS_openat, (long)AT_FDCWD, path, (long)(O_RDONLY | O_CLOEXEC));
    long n = fd >= 0 ? syscall(SYS_read, fd, line, (long)(LINE_ROOM - 1)) : -1;

    if (fd >= 0)
        syscall(SYS_close, fd);
    line[n > 0 ? n : 0] = '\0';
    return n > 0;
}

bool ml_proc_stat_read_file(const char *path, struct ml_proc_stat *ret)
{
    char line[LINE_ROOM];

    return read_line(path, line) && ml_proc_stat_parse(line, ret);
}

bool ml_proc_stat_read(uint32_t pid, uint32_t tid, struct ml_proc_stat *ret)
{
    char path[sizeof("/proc//task//stat") + 20];
    char *p = put_number(put_text(path, "/proc/"), pid);

    put_text(put_number(put_text(p, "/task/"), tid), "/stat");
    return ml_proc_stat_read_file(path, ret);
}

uint64_t ml_proc_pid_namespace(void)
{
    char link[64]; /* pid:[4026531836] */
    long n = syscall(SYS_readlinkat, (long)AT_FDCWD, "/proc/self/ns/pid", link,
                     (long)(sizeof(link) - 1));
    const char *number;

    if (n <= 0)
        return 0;
    link[n] = '\0';
    number = strchr(link, '[');
    return number ? number_at(number + 1) : 0;
}
