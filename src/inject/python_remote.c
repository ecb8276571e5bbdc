/* python_remote.c: see python_remote.h.
 *
 * The interpreter's structure _PyRuntime begins with the offsets of what a debugger needs. The
 * script's path goes into the state of the main thread, with a mark that it is there; a bit of the
 * thread's eval_breaker makes the interpreter look for it. Other threads of the process set bits of
 * the same byte, and one that they set between our read and our write is lost. That can delay a
 * signal handler until the next signal, so the script asks for signals itself. Bits for the
 * interpreter's lock, pending calls and the garbage collector are set again by those who need them.
 *
 * The interpreter copies the path before it opens the script. The script then puts its answer where
 * the path was: a first byte that no path has, and a text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "python_remote.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file_user.h"
#include "inject.h"
#include "io.h"
#include "mapped_file.h"
#include "nanoseconds.h"
#include "traced_thread.h"

#define TAKEN_MS 250     /* for the main thread to come to the script */
#define CALLED_OFF_MS 50 /* for a script that the main thread has just come to */
#define PLEASE_STOP 32   /* the bit of eval_breaker */
#define SCRIPT_ROOM 8192
#define ANSWER_ROOM 256
#define SCRIPT_NAME "attach.py"

/* ---- The interpreter ------------------------------------------------------------- */

/* The words at the beginning of _PyRuntime, in version 3.14. */
enum word {
    WORD_COOKIE,
    WORD_VERSION,
    WORD_INTERPRETERS = 5,
    WORD_MAIN_THREAD = 10,
    WORD_EVAL_BREAKER = 89,
    WORD_SUPPORT,
    WORD_ENABLED,
    WORD_PENDING,
    WORD_PATH,
    WORD_PATH_BYTES,
    WORDS,
};

struct interpreter {
    pid_t pid;
    uint64_t breaker, pending, path; /* addresses */
    uint64_t path_bytes;
};

static uint64_t runtime_in(Elf *elf, uint64_t base)
{
    Elf_Scn *section = NULL;
    GElf_Ehdr head;
    size_t names;

    if (!elf || !gelf_getehdr(elf, &head) || elf_getshdrstrndx(elf, &names))
        return 0;
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        const char *name =
            gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (name && !strcmp(name, ".PyRuntime"))
            return header.sh_addr + (head.e_type == ET_DYN ? base : 0);
    }
    return 0;
}

static uint64_t runtime_of_file(pid_t pid, const struct ml_mapping *mapping)
{
    int fd = ml_mapped_file_open(pid, mapping, O_RDONLY);
    uint64_t at;
    Elf *elf;

    if (fd < 0)
        return 0;
    elf = elf_version(EV_CURRENT) != EV_NONE ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
    at = runtime_in(elf, mapping->begin);
    elf_end(elf);
    close(fd);
    return at;
}

/* Whether it may be the interpreter: its program or its library. */
static bool is_python(const struct ml_mapping *m)
{
    const char *slash = m->path ? strrchr(m->path, '/') : NULL;

    return slash && !m->offset && strstr(slash, "python");
}

/* @return the address of _PyRuntime; 0: none */
static uint64_t find_runtime(pid_t pid)
{
    char path[64], *line = NULL;
    uint64_t at = 0;
    size_t room = 0;
    FILE *maps;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    maps = fopen(path, "re");
    while (maps && !at && getline(&line, &room, maps) > 0) {
        struct ml_mapping m;
        if (ml_mapping_parse(line, &m) && is_python(&m))
            at = runtime_of_file(pid, &m);
    }
    free(line);
    if (maps)
        fclose(maps);
    return at;
}

static bool read_pointer(pid_t pid, uint64_t at, uint64_t *ret)
{
    return ml_traced_read(pid, at, ret, sizeof(*ret)) && *ret;
}

/* @return whether it is a version that we know, and permits this */
static bool find_interpreter(pid_t pid, struct interpreter *ret)
{
    uint64_t runtime = find_runtime(pid), words[WORDS], state, thread, support;
    int32_t enabled;

    if (!runtime || !ml_traced_read(pid, runtime, words, sizeof(words)) ||
        memcmp(&words[WORD_COOKIE], "xdebugpy", sizeof(words[0])) ||
        words[WORD_VERSION] >> 16 != 0x030e || words[WORD_PATH_BYTES] < ANSWER_ROOM)
        return false;
    if (!read_pointer(pid, runtime + words[WORD_INTERPRETERS], &state) ||
        !ml_traced_read(pid, state + words[WORD_ENABLED], &enabled, sizeof(enabled)) || !enabled ||
        !read_pointer(pid, state + words[WORD_MAIN_THREAD], &thread))
        return false;
    support = thread + words[WORD_SUPPORT];
    *ret = (struct interpreter){.pid = pid,
                                .breaker = thread + words[WORD_EVAL_BREAKER],
                                .pending = support + words[WORD_PENDING],
                                .path = support + words[WORD_PATH],
                                .path_bytes = words[WORD_PATH_BYTES]};
    return true;
}

static bool is_pending(const struct interpreter *p)
{
    int32_t pending = 0;

    return ml_traced_read(p->pid, p->pending, &pending, sizeof(pending)) && pending;
}

static bool set_pending(const struct interpreter *p, int32_t pending)
{
    return ml_traced_write(p->pid, p->pending, &pending, sizeof(pending));
}

static bool announce(const struct interpreter *p, const char *script)
{
    unsigned char breaker;

    if (is_pending(p)) /* another debugger's */
        return false;
    if (!ml_traced_write(p->pid, p->path, script, strlen(script) + 1) || !set_pending(p, 1) ||
        !ml_traced_read(p->pid, p->breaker, &breaker, 1))
        return false;
    breaker |= PLEASE_STOP;
    return ml_traced_write(p->pid, p->breaker, &breaker, 1);
}

/* ---- The script ----------------------------------------------------------------- */

/* Bytes of Python, with nothing in them that ends or escapes the text. */
static void put_bytes(FILE *to, const char *text)
{
    fputs("b\"", to);
    for (; *text; text++)
        fprintf(to, "\\x%02x", (unsigned char)*text);
    fputs("\", ", to);
}

/* repr() makes Python look for signals. A handler may raise; the exception is for the program. */
static const char script_body[] =
    "    import _thread\n"
    "    def call():\n"
    "        import ctypes\n"
    "        if ctypes.string_at(place, 1) != b\"/\":\n" /* called off */
    "            return\n"
    "        try:\n"
    "            found = getattr(ctypes.CDLL(library.decode()), function.decode())\n"
    "            found.argtypes, found.restype = [ctypes.c_char_p], ctypes.c_int32\n"
    "            answer = f\"0{found(argument)}\"\n"
    "        except BaseException as error:\n"
    "            answer = f\"1{error}\"\n"
    "        answer = answer.encode()[:room - 1] + b\"\\0\"\n"
    "        ctypes.memmove(place + 1, answer[1:], len(answer) - 1)\n"
    "        ctypes.memmove(place, answer, 1)\n"
    "    _thread.start_new_thread(call, ())\n"
    "    repr(None)\n"
    "try:\n"
    "    _memledger_call(*_memledger_arguments)\n"
    "except KeyboardInterrupt:\n"
    "    __import__(\"_thread\").interrupt_main()\n"
    "except BaseException:\n"
    "    pass\n"
    "del _memledger_call, _memledger_arguments\n";

/* As the process's own user, who must be able to read it. */
static int write_file(const struct interpreter *p, const char *path, const char *text)
{
    struct ml_file_user user = ml_file_user_of(p->pid);
    int fd, r;

    ml_file_user_begin(&user);
    unlink(path); /* one that an earlier command has left */
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    r = fd < 0 ? -errno : ml_write_all(fd, text, strlen(text));
    ml_file_user_end(&user);
    if (fd >= 0)
        close(fd);
    return r;
}

static int make_script(const struct interpreter *p, const struct ml_injection *what,
                       const char *path)
{
    char text[SCRIPT_ROOM];
    FILE *to = fmemopen(text, sizeof(text), "w");
    bool ok;

    if (!to)
        return -errno;
    fprintf(to, "_memledger_arguments = (%" PRIu64 ", %d, ", p->path, ANSWER_ROOM);
    put_bytes(to, what->library);
    put_bytes(to, what->function);
    put_bytes(to, what->argument);
    ok = fprintf(to, ")\ndef _memledger_call(place, room, library, function, argument):\n%s",
                 script_body) > 0 &&
         !fflush(to);
    if (fclose(to) || !ok)
        return -ENAMETOOLONG;
    return write_file(p, path, text);
}

/* ---- Its answer ------------------------------------------------------------------ */

/* @return whether it is there; the text comes before the first byte */
static bool read_answer(const struct interpreter *p, char ret[ANSWER_ROOM])
{
    char first;
    bool ok = ml_traced_read(p->pid, p->path, &first, 1) && (first == '0' || first == '1') &&
              ml_traced_read(p->pid, p->path, ret, ANSWER_ROOM);

    ret[ANSWER_ROOM - 1] = '\0';
    return ok;
}

static int understand(pid_t pid, const struct ml_injection *what, const char *answer,
                      int32_t *ret_value, struct ml_error *err)
{
    int value;

    if (sscanf(answer, "0%d", &value) == 1) {
        *ret_value = value;
        return 0;
    }
    return ml_error_set(err, -ENOEXEC, "process %d cannot load %s: %s", (int)pid, what->library,
                        answer + 1);
}

static bool wait_ms(const struct interpreter *p, uint64_t ms, char ret_answer[ANSWER_ROOM])
{
    uint64_t end_ns = ml_clock_ns(CLOCK_MONOTONIC) + ms * UINT64_C(1000000);

    do {
        if (read_answer(p, ret_answer))
            return true;
        poll(NULL, 0, 1);
    } while (ml_clock_ns(CLOCK_MONOTONIC) < end_ns && !kill(p->pid, 0));
    return false;
}

/* @return 0: there is an answer; -EAGAIN: the main thread did not come to the script, which does
 *         nothing any more; -ETIMEDOUT: it did */
static int wait_for_answer(const struct interpreter *p, const struct ml_injection *what,
                           char ret_answer[ANSWER_ROOM])
{
    if (wait_ms(p, TAKEN_MS, ret_answer))
        return 0;
    if (!is_pending(p))
        return wait_ms(p, what->patience_ns / 1000000, ret_answer) ? 0 : -ETIMEDOUT;
    (void)ml_traced_write(p->pid, p->path, "", 1);
    set_pending(p, 0);
    return wait_ms(p, CALLED_OFF_MS, ret_answer) ? 0 : -EAGAIN;
}

int ml_python_remote(pid_t pid, const struct ml_injection *what, int32_t *ret_value,
                     struct ml_error *err)
{
    struct interpreter python;
    char script[PATH_MAX], reached[PATH_MAX + 64], answer[ANSWER_ROOM];
    int r;

    if (!what->folder || !find_interpreter(pid, &python))
        return -ENOTSUP;
    snprintf(script, sizeof(script), "%s/" SCRIPT_NAME, what->folder);
    snprintf(reached, sizeof(reached), "/proc/%d/root%s", (int)pid, script);
    if (script[0] != '/' || strlen(script) >= python.path_bytes)
        return -ENOTSUP;
    r = make_script(&python, what, reached);
    if (!r)
        r = announce(&python, script) ? wait_for_answer(&python, what, answer) : -ENOTSUP;
    unlink(reached);
    if (!r)
        return understand(pid, what, answer, ret_value, err);
    if (r != -ETIMEDOUT)
        return r == -EAGAIN ? r : -ENOTSUP;
    return ml_error_set(err, r, "process %d has not answered within %.0f s", (int)pid,
                        (double)what->patience_ns / 1e9);
}
