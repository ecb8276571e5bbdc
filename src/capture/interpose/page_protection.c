/* page_protection.c: see page_protection.h. A line of /proc/self/maps begins "begin-end rwxp"; the
 * rest does not matter.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "page_protection.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "filtered.h"

/* How much of a line has been read. */
enum part { BEGIN, END, PROTECTION, REST };

struct line {
    enum part part;
    uintptr_t begin, end;
    long protection;
};

static uintptr_t with_digit(uintptr_t number, char digit)
{
    return number << 4 | (uintptr_t)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
}

static long protection_of(char letter)
{
    switch (letter) {
    case 'r': return PROT_READ;
    case 'w': return PROT_WRITE;
    case 'x': return PROT_EXEC;
    default: return PROT_NONE;
    }
}

/* @return whether the line is complete */
static bool read_letter(struct line *l, char c)
{
    if (c == '\n')
        return true;
    if (l->part == BEGIN && c != '-')
        l->begin = with_digit(l->begin, c);
    else if (l->part == END && c != ' ')
        l->end = with_digit(l->end, c);
    else if (l->part == PROTECTION && c != ' ')
        l->protection |= protection_of(c);
    else if (l->part != REST)
        l->part++;
    return false;
}

static long find(int fd, uintptr_t address)
{
    struct line line = {0};
    char text[1024];
    long n;

    while ((n = syscall(SYS_read, (long)fd, text, sizeof(text))) > 0) {
        for (long i = 0; i < n; i++) {
            if (!read_letter(&line, text[i]))
                continue;
            if (address >= line.begin && address < line.end)
                return line.protection;
            line = (struct line){0};
        }
    }
    return ML_PAGE_UNKNOWN;
}

long ml_page_protection(uintptr_t address)
{
    long protection = ML_PAGE_UNKNOWN;
    long fd;

    if (!ml_calls_begin())
        return protection;
    fd = syscall(SYS_openat, (long)AT_FDCWD, "/proc/self/maps", (long)(O_RDONLY | O_CLOEXEC));
    if (fd >= 0) {
        protection = find((int)fd, address);
        syscall(SYS_close, fd);
    }
    ml_calls_end();
    return protection;
}
