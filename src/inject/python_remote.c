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
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_user.h"
#include "inject.h"
#include "io.h"
#include "mapped_file.h"
#include "nanoseconds.h"
#include "own_root.h"
#include "target_filters.h"
#include "traced_thread.h"

#define TAKEN_MS 250     /* for the main thread to come to the script */
#define CALLED_OFF_MS 50 /* for a script that the main thread has just come to */
#define PLEASE_STOP 32   /* the bit of eval_breaker */
#define RELEASED 0xf     /* a release, not an alpha, beta or candidate */
#define PATH_BYTES 512   /* room for the path */
#define THREAD_BYTES_MAX (1u << 16)
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

struct runtime_search {
    pid_t pid;
    uint64_t runtime;
};

static bool has_runtime(const struct ml_mapping *m, void *context)
{
    struct runtime_search *s = context;

    s->runtime = is_python(m) ? runtime_of_file(s->pid, m) : 0;
    return s->runtime != 0;
}

/* @return the address of _PyRuntime; 0: none */
static uint64_t find_runtime(pid_t pid)
{
    struct runtime_search s = {.pid = pid};

    ml_mappings_visit(pid, has_runtime, &s);
    return s.runtime;
}

static bool read_pointer(pid_t pid, uint64_t at, uint64_t *ret)
{
    return ml_traced_read(pid, at, ret, sizeof(*ret)) && *ret;
}

/* Whether these are the words of a released version 3.14: they differ in its early versions. */
static bool is_known(const uint64_t words[WORDS])
{
    uint64_t version = words[WORD_VERSION];

    return !memcmp(&words[WORD_COOKIE], "xdebugpy", sizeof(words[0])) && version >> 16 == 0x030e &&
           (version >> 4 & 0xf) == RELEASED && words[WORD_PATH_BYTES] == PATH_BYTES &&
           words[WORD_EVAL_BREAKER] < THREAD_BYTES_MAX && words[WORD_SUPPORT] < THREAD_BYTES_MAX &&
           words[WORD_PENDING] < PATH_BYTES && words[WORD_PATH] < PATH_BYTES;
}

/* @return whether it is a version that we know, and permits this */
static bool find_interpreter(pid_t pid, struct interpreter *ret)
{
    uint64_t runtime = find_runtime(pid), words[WORDS], state, thread, support;
    int32_t enabled;

    if (!runtime || !ml_traced_read(pid, runtime, words, sizeof(words)) || !is_known(words))
        return false;
    if (!read_pointer(pid, runtime + words[WORD_INTERPRETERS], &state) ||
        !ml_traced_read(pid, state + words[WORD_ENABLED], &enabled, sizeof(enabled)) || !enabled ||
        !read_pointer(pid, state + words[WORD_MAIN_THREAD], &thread))
        return false;
    support = thread + words[WORD_SUPPORT];
    *ret = (struct interpreter){.pid = pid,
                                .breaker = thread + words[WORD_EVAL_BREAKER],
                                .pending = support + words[WORD_PENDING],
                                .path = support + words[WORD_PATH]};
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

/* repr() makes Python look for signals. A handler may raise; the exception is for the program. A
 * Python without ctypes, or without room for a thread, removes the script instead of an answer. */
static const char script_body[] =
    "    import _thread, os\n"
    "    def call():\n"
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
    "    try:\n"
    "        import ctypes\n"
    "        _thread.start_new_thread(call, ())\n"
    "    except (ImportError, RuntimeError):\n"
    "        os.unlink(script)\n"
    "    repr(None)\n"
    "try:\n"
    "    _memledger_call(*_memledger_arguments)\n"
    "except KeyboardInterrupt:\n"
    "    __import__(\"_thread\").interrupt_main()\n"
    "except BaseException:\n"
    "    pass\n"
    "del _memledger_call, _memledger_arguments\n";

struct script {
    char path[PATH_MAX]; /* as the process names it */
    int folder;
    struct ml_file_user user;
};

/* The process may have put a link in place of the folder. Nothing is done with more rights than its
 * user has, and nothing outside of its root. */
static int open_folder(pid_t pid, const char *path, struct script *ret)
{
    int root;

    ret->user = ml_file_user_of(pid);
    root = ml_root_open(pid);
    if (root < 0)
        return root;
    ml_file_user_begin(&ret->user);
    ret->folder = ml_root_open_file(root, path, O_PATH | O_DIRECTORY | O_NOFOLLOW);
    ml_file_user_end(&ret->user);
    close(root);
    return ret->folder < 0 ? ret->folder : 0;
}

static int write_script(const struct script *s, const char *text)
{
    int fd, r;

    ml_file_user_begin(&s->user);
    unlinkat(s->folder, SCRIPT_NAME, 0); /* one that an earlier command has left */
    fd = openat(s->folder, SCRIPT_NAME, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    r = fd < 0 ? -errno : ml_write_all(fd, text, strlen(text));
    ml_file_user_end(&s->user);
    if (fd >= 0)
        close(fd);
    return r;
}

/* When a recording ends, its collector removes the whole folder. */
static bool has_removed_itself(const struct script *s)
{
    struct stat st;

    return fstatat(s->folder, SCRIPT_NAME, &st, AT_SYMLINK_NOFOLLOW) && !fstat(s->folder, &st) &&
           st.st_nlink > 0;
}

static void remove_script(const struct script *s)
{
    ml_file_user_begin(&s->user);
    unlinkat(s->folder, SCRIPT_NAME, 0);
    ml_file_user_end(&s->user);
    close(s->folder);
}

static int make_script(const struct interpreter *p, const struct ml_injection *what,
                       const struct script *s)
{
    char text[SCRIPT_ROOM];
    FILE *to = fmemopen(text, sizeof(text), "w");
    bool ok;

    if (!to)
        return -errno;
    fprintf(to, "_memledger_arguments = (%" PRIu64 ", %d, ", p->path, ANSWER_ROOM);
    put_bytes(to, s->path);
    put_bytes(to, what->library);
    put_bytes(to, what->function);
    put_bytes(to, what->argument);
    ok =
        fprintf(to, ")\ndef _memledger_call(place, room, script, library, function, argument):\n%s",
                script_body) > 0 &&
        !fflush(to);
    if (fclose(to) || !ok)
        return -ENAMETOOLONG;
    return write_script(s, text);
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

/* @return 0: there is an answer; -ENOTSUP: the script has removed itself; -ETIMEDOUT */
static int wait_ms(const struct interpreter *p, const struct script *s, uint64_t ms,
                   char ret_answer[ANSWER_ROOM])
{
    uint64_t end_ns = ml_clock_ns(CLOCK_MONOTONIC) + ms * UINT64_C(1000000);

    do {
        if (read_answer(p, ret_answer))
            return 0;
        if (has_removed_itself(s))
            return -ENOTSUP;
        poll(NULL, 0, 1);
    } while (ml_clock_ns(CLOCK_MONOTONIC) < end_ns && !(kill(p->pid, 0) && errno == ESRCH));
    return -ETIMEDOUT;
}

/* @return the same; -EAGAIN: the main thread did not come to the script, which does nothing any
 * more
 */
static int wait_for_answer(const struct interpreter *p, const struct script *s,
                           const struct ml_injection *what, char ret_answer[ANSWER_ROOM])
{
    int r = wait_ms(p, s, TAKEN_MS, ret_answer);

    if (r != -ETIMEDOUT)
        return r;
    if (!is_pending(p))
        return wait_ms(p, s, what->patience_ns / 1000000, ret_answer);
    (void)ml_traced_write(p->pid, p->path, "", 1);
    set_pending(p, 0);
    return wait_ms(p, s, CALLED_OFF_MS, ret_answer) == 0 ? 0 : -EAGAIN;
}

static int run_script(const struct interpreter *p, const struct script *s,
                      const struct ml_injection *what, int32_t *ret_value, struct ml_error *err)
{
    char answer[ANSWER_ROOM];
    int r = announce(p, s->path) ? wait_for_answer(p, s, what, answer) : -ENOTSUP;

    if (!r)
        return understand(p->pid, what, answer, ret_value, err);
    if (r != -ETIMEDOUT)
        return r;
    return ml_error_set(err, r, "process %d has not answered within %.0f s", (int)p->pid,
                        (double)what->patience_ns / 1e9);
}

/* A process with seccomp filters of its own is left to ptrace, which can read them. */
int ml_python_remote(pid_t pid, const struct ml_injection *what, int32_t *ret_value,
                     struct ml_error *err)
{
    struct interpreter python;
    struct script script;
    int r = -ENOTSUP;

    if (!what->folder || ml_target_has_filters(pid) || !find_interpreter(pid, &python))
        return -ENOTSUP;
    snprintf(script.path, sizeof(script.path), "%s/" SCRIPT_NAME, what->folder);
    if (script.path[0] != '/' || strlen(script.path) >= PATH_BYTES ||
        open_folder(pid, what->folder, &script))
        return -ENOTSUP;
    if (!make_script(&python, what, &script))
        r = run_script(&python, &script, what, ret_value, err);
    remove_script(&script);
    return r;
}
