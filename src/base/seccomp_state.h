/* seccomp_state.h: how far the kernel restricts a process's system calls, read from
 * /proc/PID/status. Freestanding: usable inside the target. It makes the same calls as the
 * dynamic loader (openat, read, close), so a process that could be started can make them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_BASE_SECCOMP_STATE_H
#define ML_BASE_SECCOMP_STATE_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct ml_seccomp_state {
    uint32_t mode;    /* 0: none, 1: strict, 2: filters */
    uint32_t filters; /* how many; 0 or 1 where the kernel does not count them */
    bool counted;     /* whether it does: since 5.9 */
};

/* Whether `now` restricts more than `before`: filters are never removed. */
static inline bool ml_seccomp_is_more(const struct ml_seccomp_state *now,
                                      const struct ml_seccomp_state *before)
{
    return now->filters > before->filters || (now->mode != before->mode && now->mode);
}

/* Adds that many filters. */
static inline void ml_seccomp_add(struct ml_seccomp_state *state, uint32_t filters)
{
    state->filters += filters;
    if (filters)
        state->mode = 2;
}

/* Whether a process may be killed for the recorder's calls, if it descends from one in the
 * state `base`.
 * @spared      filters added since then that allow the recorder's calls
 * @restricted  this process or an ancestor added a filter that does not; other threads and
 *              children may lack it */
static inline bool ml_seccomp_may_kill(const struct ml_seccomp_state *now,
                                       struct ml_seccomp_state base, uint32_t spared,
                                       bool restricted)
{
    bool as_before = now->counted && !ml_seccomp_is_more(now, &base);

    if (!now->mode || as_before)
        return false;
    ml_seccomp_add(&base, spared);
    return restricted || ml_seccomp_is_more(now, &base);
}

/* Parses the number at *text and advances *text past it. */
static inline uint32_t ml_seccomp_number(const char **text)
{
    uint32_t value = 0;

    for (; **text >= '0' && **text <= '9'; (*text)++)
        value = 10 * value + (uint32_t)(**text - '0');
    return value;
}

/* The number that follows `key` in the line; false: it is another line. */
static inline bool ml_seccomp_field(const char *line, const char *key, uint32_t *ret)
{
    size_t n = strlen(key);

    if (strncmp(line, key, n) != 0)
        return false;
    for (line += n; *line == '\t' || *line == ' '; line++)
        continue;
    *ret = ml_seccomp_number(&line);
    return true;
}

/* A state as text, "MODE:FILTERS". */
static inline void ml_seccomp_parse(const char *text, struct ml_seccomp_state *ret)
{
    ret->mode = ml_seccomp_number(&text);
    text += *text == ':';
    ret->filters = ml_seccomp_number(&text);
}

struct ml_seccomp_reader {
    char line[32]; /* only the part that is parsed */
    size_t len;
    bool known; /* the field was found */
    struct ml_seccomp_state state;
};

static inline void ml_seccomp_letter(struct ml_seccomp_reader *r, char letter)
{
    if (letter != '\n') {
        if (r->len < sizeof(r->line) - 1)
            r->line[r->len++] = letter;
        return;
    }
    r->line[r->len] = '\0';
    r->len = 0;
    r->known |= ml_seccomp_field(r->line, "Seccomp:", &r->state.mode);
    r->state.counted |= ml_seccomp_field(r->line, "Seccomp_filters:", &r->state.filters);
}

/* @return whether the file exists and contains the state; if not, errno has the reason. Changes
 *         errno. */
static inline bool ml_seccomp_read(const char *path, struct ml_seccomp_state *ret)
{
    long fd = syscall(SYS_openat, (long)AT_FDCWD, path, (long)(O_RDONLY | O_CLOEXEC));
    struct ml_seccomp_reader r = {0};
    char text[512];
    long n;

    if (fd < 0)
        return false;
    while ((n = syscall(SYS_read, fd, text, sizeof(text))) > 0) {
        for (long i = 0; i < n; i++)
            ml_seccomp_letter(&r, text[i]);
    }
    syscall(SYS_close, fd);
    errno = 0;
    if (!r.state.counted)
        r.state.filters = r.state.mode == 2;
    if (r.known)
        *ret = r.state;
    return r.known;
}

#endif
