/* process_key.h: what tells a process from every other one on the machine, also across exec
 * and in another pid namespace: its number and when it was started. Freestanding: usable inside
 * the target, with the dynamic loader's calls alone (openat, read, close).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_BASE_PROCESS_KEY_H
#define ML_BASE_PROCESS_KEY_H

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Fields of /proc/PID/stat, counted after the command, whose name is in parentheses. */
enum { ML_STAT_PARENT = 2, ML_STAT_START = 20 };

static inline uint64_t ml_stat_number(const char *text)
{
    uint64_t value = 0;

    for (; *text >= '0' && *text <= '9'; text++)
        value = 10 * value + (uint64_t)(*text - '0');
    return value;
}

/* From the text of a stat file; 0: it makes no sense. */
static inline uint64_t ml_process_key_of(const char *text, uint32_t *ret_parent)
{
    const char *at = strrchr(text, ')');
    uint64_t start = 0;

    *ret_parent = 0;
    for (int field = 1; at && field <= ML_STAT_START; field++) {
        at = strchr(at, ' ');
        if (!at)
            return 0;
        at++;
        if (field == ML_STAT_PARENT)
            *ret_parent = (uint32_t)ml_stat_number(at);
        if (field == ML_STAT_START)
            start = ml_stat_number(at);
    }
    return start ? start << 32 | (uint32_t)ml_stat_number(text) : 0;
}

/* 0: the file cannot be read. Changes errno. */
static inline uint64_t ml_process_key_read(const char *path, uint32_t *ret_parent)
{
    long fd = syscall(SYS_openat, (long)AT_FDCWD, path, (long)(O_RDONLY | O_CLOEXEC));
    char text[512];
    long n;

    *ret_parent = 0;
    if (fd < 0)
        return 0;
    n = syscall(SYS_read, fd, text, sizeof(text) - 1);
    syscall(SYS_close, fd);
    text[n > 0 ? n : 0] = '\0';
    return ml_process_key_of(text, ret_parent);
}

#endif
