/* seccomp_state.h: how far the kernel restricts a process's system calls, read from
 * /proc/PID/status. Freestanding: usable inside the target. It makes the same calls as the
 * dynamic loader (openat, read, close), so a process that could be started can make them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_BASE_SECCOMP_STATE_H
#define ML_BASE_SECCOMP_STATE_H

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct ml_seccomp_state {
    uint32_t mode;    /* 0: none, 1: strict, 2: filters */
    uint32_t filters; /* how many; 0 or 1 where the kernel does not say (before 5.9) */
};

/* Whether `now` restricts more than `before` did: filters are never taken away. */
static inline bool ml_seccomp_is_more(const struct ml_seccomp_state *now,
                                      const struct ml_seccomp_state *before)
{
    return now->filters > before->filters || (now->mode != before->mode && now->mode);
}

/* That many filters more. */
static inline void ml_seccomp_add(struct ml_seccomp_state *state, uint32_t filters)
{
    state->filters += filters;
    if (filters)
        state->mode = 2;
}

/* The number that follows `key` in the line; false: it is another line. */
static inline bool ml_seccomp_field(const char *line, const char *key, uint32_t *ret)
{
    size_t n = strlen(key);
    uint32_t value = 0;

    if (strncmp(line, key, n) != 0)
        return false;
    for (line += n; *line == '\t' || *line == ' '; line++)
        continue;
    for (; *line >= '0' && *line <= '9'; line++)
        value = 10 * value + (uint32_t)(*line - '0');
    *ret = value;
    return true;
}

struct ml_seccomp_reader {
    char line[32]; /* as much of it as matters */
    size_t len;
    bool known, counted; /* the two fields were met */
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
    r->counted |= ml_seccomp_field(r->line, "Seccomp_filters:", &r->state.filters);
}

/* @return whether the file was there and says so. Changes errno. */
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
    if (!r.counted)
        r.state.filters = r.state.mode == 2;
    if (r.known)
        *ret = r.state;
    return r.known;
}

#endif
