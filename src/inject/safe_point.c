/* safe_point.c: see safe_point.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "safe_point.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#include "arena.h"
#include "compiler.h"
#include "mapped_file.h"
#include "vec.h"

#ifndef PTRACE_GET_RSEQ_CONFIGURATION
#define PTRACE_GET_RSEQ_CONFIGURATION 0x420f
#endif

#define FRAMES_MAX 1000
#define BASE_FRAMES_MAX 4 /* of libc, below main or the function of a thread */

struct ml_unwinder {
    Dwfl *dwfl;
    Dwfl_Callbacks callbacks;
    char *debug_path;
    pid_t pid;
    struct ml_arena paths;
    ML_VEC(struct ml_mapping) files; /* in the order of their addresses */
};

/* ---- The modules ------------------------------------------------------------ */

enum place {
    PLACE_PROGRAM,
    PLACE_MIXED, /* has an allocator among other functions */
    PLACE_LIBC,
    PLACE_LOADER,
    PLACE_ALLOCATOR,
    PLACE_UNKNOWN,
};

static enum place place_of(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    const char *name = slash ? slash + 1 : path;

    if (!name || name[0] == '[' || name[0] == '\0')
        return PLACE_UNKNOWN;
    if (!strncmp(name, "ld-linux", 8) || !strncmp(name, "ld-2.", 5) || !strncmp(name, "ld.so", 5) ||
        !strncmp(name, "libdl", 5))
        return PLACE_LOADER;
    if (strstr(name, "malloc") || strstr(name, "libhoard"))
        return PLACE_ALLOCATOR;
    if (!strncmp(name, "libc.so", 7) || !strncmp(name, "libc-2.", 7) ||
        !strncmp(name, "libpthread", 10))
        return PLACE_LIBC;
    return PLACE_PROGRAM;
}

static bool exports_malloc(Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t count = data && header->sh_entsize ? header->sh_size / header->sh_entsize : 0;

    for (size_t i = 0; i < count; i++) {
        GElf_Sym symbol;
        const char *name;

        if (!gelf_getsym(data, (int)i, &symbol) || symbol.st_shndx == SHN_UNDEF)
            continue;
        name = elf_strptr(elf, header->sh_link, symbol.st_name);
        if (name && !strcmp(name, "malloc"))
            return true;
    }
    return false;
}

/* Notes where the module's code belongs while no thread is stopped. */
static int take_module(Dwfl_Module *module, void **userdata, const char *path, Dwarf_Addr start,
                       void *arg)
{
    enum place place = place_of(path);
    Elf_Scn *section = NULL;
    GElf_Addr bias;
    Elf *elf = place == PLACE_PROGRAM ? dwfl_module_getelf(module, &bias) : NULL;

    (void)start;
    (void)arg;
    while (elf && (section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_DYNSYM &&
            exports_malloc(elf, section, &header))
            place = PLACE_MIXED;
    }
    *userdata = (void *)(uintptr_t)place;
    return DWARF_CB_OK;
}

/* A large program has a thousand mappings, so they are read once and not for each file.
 * @return whether there is no memory */
static bool note_file(const struct ml_mapping *mapping, void *context)
{
    struct ml_unwinder *u = context;
    struct ml_mapping copy = *mapping;

    if (!mapping->path)
        return false;
    copy.name = copy.path = ml_arena_dup(&u->paths, mapping->path, strlen(mapping->path));
    return !copy.path || ml_vec_push(&u->files, copy);
}

static int side_of(const void *address, const void *mapping)
{
    const struct ml_mapping *m = mapping;
    uint64_t at = *(const uint64_t *)address;

    return at < m->begin ? -1 : at >= m->end;
}

static struct ml_unwinder *unwinding; /* libdw passes no context to its callback */

/* The file that the process has loaded: its path may denote another one here. */
static int find_elf(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
                    char **ret_path, Elf **ret_elf)
{
    const struct ml_unwinder *u = unwinding;
    const struct ml_mapping *m;
    uint64_t at = base;
    int fd;

    if (name[0] != '/')
        return dwfl_linux_proc_find_elf(module, userdata, name, base, ret_path, ret_elf);
    m = u->files.len ? bsearch(&at, u->files.items, u->files.len, sizeof(*m), side_of) : NULL;
    fd = m ? ml_mapped_file_open(u->pid, m, O_RDONLY) : -ENOENT;
    if (fd >= 0)
        *ret_path = strdup(name);
    return fd >= 0 ? fd : -1;
}

int ml_unwinder_new(pid_t pid, struct ml_unwinder **ret, struct ml_error *err)
{
    struct ml_unwinder *u = calloc(1, sizeof(*u));
    bool ok;

    if (!u)
        return ml_error_set(err, -ENOMEM, "out of memory");
    /* Without debug files: the unwind tables are in the objects themselves. */
    u->debug_path = (char *)(uintptr_t) "-";
    u->callbacks = (Dwfl_Callbacks){.find_elf = find_elf,
                                    .find_debuginfo = dwfl_standard_find_debuginfo,
                                    .debuginfo_path = &u->debug_path};
    u->pid = pid;
    ml_arena_init(&u->paths);
    unwinding = u;
    u->dwfl = dwfl_begin(&u->callbacks);
    ok = u->dwfl && !ml_mappings_visit(pid, note_file, u) &&
         !dwfl_linux_proc_report(u->dwfl, pid) && !dwfl_report_end(u->dwfl, NULL, NULL) &&
         !dwfl_linux_proc_attach(u->dwfl, pid, true) &&
         !dwfl_getmodules(u->dwfl, take_module, NULL, 0);
    if (!ok) {
        ml_unwinder_free(u);
        return ml_error_set(err, -EIO, "cannot read the libraries of process %d", (int)pid);
    }
    *ret = u;
    return 0;
}

void ml_unwinder_free(struct ml_unwinder *u)
{
    if (!u)
        return;
    if (u->dwfl)
        dwfl_end(u->dwfl);
    ml_vec_release(&u->files);
    ml_arena_release(&u->paths);
    free(u);
    unwinding = NULL;
}

/* ---- The stack ------------------------------------------------------------- */

struct frame {
    enum place place;
    const char *function; /* of libc or PLACE_MIXED; NULL: it has no symbol */
};

struct stack {
    Dwfl *dwfl;
    struct frame frames[FRAMES_MAX]; /* innermost first */
    unsigned count;
    bool in_handler;
    bool waits; /* see waits_for_others */
};

/* The function whose code contains `pc`, never merely the closest one before it. */
static const char *function_at(Dwfl_Module *module, Dwarf_Addr pc)
{
    GElf_Off offset;
    GElf_Sym symbol;
    const char *name = dwfl_module_addrinfo(module, pc, &offset, &symbol, NULL, NULL, NULL);

    return name && offset < symbol.st_size ? name : NULL;
}

static int take_frame(Dwfl_Frame *state, void *arg)
{
    struct stack *s = arg;
    struct frame *f = &s->frames[s->count];
    Dwfl_Module *module;
    Dwarf_Addr pc;
    bool activation;
    void **place;

    if (s->count == FRAMES_MAX || !dwfl_frame_pc(state, &pc, &activation))
        return DWARF_CB_ABORT;
    /* An interrupted frame is an activation, as the innermost one is. */
    s->in_handler = s->in_handler || (activation && s->count > 0);
    if (!activation)
        pc--;
    module = dwfl_addrmodule(s->dwfl, pc);
    f->place = PLACE_UNKNOWN;
    if (module && dwfl_module_info(module, &place, NULL, NULL, NULL, NULL, NULL, NULL))
        f->place = (enum place)(uintptr_t)*place;
    f->function =
        f->place == PLACE_LIBC || f->place == PLACE_MIXED ? function_at(module, pc) : NULL;
    s->count++;
    return DWARF_CB_OK;
}

/* Some names begin with underscores and "libc_". @names  a star at the end stands for any rest */
static bool is_one_of(const char *name, const char *const names[], size_t count)
{
    if (!name)
        return false;
    name += strspn(name, "_");
    if (!strncmp(name, "libc_", 5))
        name += 5;
    for (size_t i = 0; i < count; i++) {
        size_t len = strcspn(names[i], "*");

        if (!strncmp(name, names[i], len) && (names[i][len] || !name[len]))
            return true;
    }
    return false;
}

/* Functions that wait in a system call and hold no lock of libc then. */
static bool only_waits(const char *function)
{
    static const char *const names[] = {"accept",
                                        "accept4",
                                        "clock_nanosleep",
                                        "connect",
                                        "epoll_pwait",
                                        "epoll_wait",
                                        "fdatasync",
                                        "fsync",
                                        "futex",
                                        "ioctl",
                                        "nanosleep",
                                        "pause",
                                        "poll",
                                        "ppoll",
                                        "pread64",
                                        "pselect",
                                        "pthread_cond_clockwait",
                                        "pthread_cond_timedwait",
                                        "pthread_cond_wait",
                                        "pthread_mutex_lock",
                                        "pthread_mutex_timedlock",
                                        "pthread_rwlock_rdlock",
                                        "pthread_rwlock_wrlock",
                                        "pwrite64",
                                        "read",
                                        "readv",
                                        "recv",
                                        "recvfrom",
                                        "recvmsg",
                                        "sched_yield",
                                        "select",
                                        "sem_clockwait",
                                        "sem_timedwait",
                                        "sem_wait",
                                        "send",
                                        "sendmsg",
                                        "sendto",
                                        "sleep",
                                        "syscall",
                                        "thrd_sleep",
                                        "usleep",
                                        "wait4",
                                        "waitid",
                                        "waitpid",
                                        "write",
                                        "writev"};

    return is_one_of(function, names, ML_ARRAY_SIZE(names));
}

/* Functions of libc that hold, or may be called while the thread holds, a lock that pthread_create
 * takes: the allocator's, the loader's, that of the stacks. Other locks, such as that of a FILE, do
 * not matter. */
static bool may_hold_lock(const char *function)
{
    static const char *const names[] = {
        "malloc*", "mallinfo*", "mallopt", "free", "freeres", "cfree", "calloc", "realloc*",
        "posix_memalign", "aligned_alloc", "memalign", "valloc", "pvalloc", "mtrace", "mcheck*",
        "dl*", "tls_*", "cxa_*", "atexit", "at_quick_exit", "on_exit", "exit", "quick_exit",
        "abort", "fork*", "Fork", "vfork", "clone*", "daemon", "popen", "posix_spawn*", "system",
        "register_atfork", "pthread_atfork", "pthread_create*", "pthread_exit", "pthread_join*",
        "pthread_tryjoin*", "pthread_timedjoin*", "pthread_clockjoin*", "pthread_detach",
        "pthread_cancel", "pthread_getattr*", "pthread_setattr*", "nptl_*", "thrd_*", "thread_*",
        "timer_create", "setuid", "setgid", "seteuid", "setegid", "setreuid", "setregid",
        "setresuid", "setresgid", "setgroups",
        /* operator new and delete, and allocators that a program brings */
        "Znw*", "Zna*", "Zdl*", "Zda*", "je_*", "mi_*", "tc_*"};

    return is_one_of(function, names, ML_ARRAY_SIZE(names));
}

/* Semaphores, condition variables, read-write locks and joins wait by this operation, in functions
 * without a symbol, with no lock that pthread_create takes; the allocator's, loader's and stacks'
 * locks wait by FUTEX_WAIT. */
static bool waits_for_others(const struct user_regs_struct *regs)
{
    return regs->orig_rax == SYS_futex && (regs->rsi & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET;
}

/* The innermost frames, as far as they are libc's: a wait in a system call, called by the program
 * as a function that only waits. */
static unsigned waiting_frames(const struct stack *s)
{
    unsigned n = 0;

    while (n < s->count && s->frames[n].place == PLACE_LIBC)
        n++;
    return n && (s->waits || only_waits(s->frames[n - 1].function)) ? n : 0;
}

/* The outermost, below main: libc's, and the program's _start below them. */
static unsigned base_frames(const struct stack *s, unsigned first)
{
    unsigned n = 0, start = s->count > 1 && s->frames[s->count - 1].place <= PLACE_MIXED &&
                            s->frames[s->count - 2].place == PLACE_LIBC;

    while (n + start < s->count - first && n < BASE_FRAMES_MAX) {
        const struct frame *f = &s->frames[s->count - 1 - start - n];

        if (f->place != PLACE_LIBC)
            break;
        if (f->function && !strcmp(f->function, "exit"))
            return 0;
        n++;
    }
    return n ? n + start : 0;
}

static const char *trouble_in(const struct stack *s)
{
    unsigned first = waiting_frames(s);
    unsigned end = s->count - base_frames(s, first);

    if (s->in_handler)
        return "in a signal handler";
    if (end == s->count)
        return "in code that cannot be unwound";
    if (first >= end) /* a thread that begins or ends, or one of libc itself */
        return "inside libc";
    for (unsigned i = first; i < end; i++) {
        const struct frame *f = &s->frames[i];

        switch (f->place) {
        case PLACE_PROGRAM: break;
        case PLACE_LIBC:
            if (!f->function || may_hold_lock(f->function))
                return "inside libc";
            break;
        case PLACE_MIXED:
            if (!f->function || may_hold_lock(f->function))
                return "inside an allocator, or in a program with an allocator and no symbols";
            break;
        case PLACE_LOADER: return "inside the dynamic loader";
        case PLACE_ALLOCATOR: return "inside an allocator";
        case PLACE_UNKNOWN: return "in code without a file";
        }
    }
    return NULL;
}

/* ---- System calls ------------------------------------------------------------ */

/* A call that replaces the signal mask while it waits. The kernel puts the thread's own one back
 * when the call ends, or else the call sets the other one again when it is repeated. */
static bool has_own_mask(pid_t pid, const struct user_regs_struct *regs)
{
    uint64_t mask = 0;

    switch (regs->orig_rax) {
    case SYS_rt_sigsuspend: return true;
    case SYS_ppoll: return regs->r10;
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2: return regs->r8;
    case SYS_io_pgetevents: return regs->r9;
    case SYS_pselect6:
        return regs->r9 && (!ml_traced_read(pid, regs->r9, &mask, sizeof(mask)) || mask);
    default: return false;
    }
}

/* Linux before 5.1 gives the tracer the mask of the call, and not the thread's own one, which could
 * thus be neither saved nor restored. */
static bool kernel_knows_own_mask(void)
{
    struct utsname kernel;
    unsigned major = 0, minor = 0;

    return !uname(&kernel) && sscanf(kernel.release, "%u.%u", &major, &minor) == 2 &&
           (major > 5 || (major == 5 && minor >= 1));
}

struct rseq_configuration {
    uint64_t pointer;
    uint32_t size, signature, flags, pad;
};

/* A restartable sequence would go on without its protection. */
static bool in_rseq(const struct ml_traced_thread *t)
{
    struct rseq_configuration c = {0};
    uint64_t sequence = 0;

    if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, t->tid, (void *)sizeof(c), &c) < 0 || !c.pointer)
        return false;
    return !ml_traced_read(t->pid, c.pointer + 8, &sequence, sizeof(sequence)) || sequence;
}

bool ml_point_is_safe(struct ml_unwinder *u, struct ml_traced_thread *t, const char **ret_why)
{
    static struct stack stack;
    struct user_regs_struct regs;

    *ret_why = "not readable";
    if (ml_traced_registers(t, &regs))
        return false;
    if (has_own_mask(t->pid, &regs) && !kernel_knows_own_mask())
        *ret_why = "waiting with another signal mask, which needs Linux 5.1";
    else if (in_rseq(t))
        *ret_why = "in a restartable sequence";
    else {
        stack = (struct stack){.dwfl = u->dwfl, .waits = waits_for_others(&regs)};
        /* The end of a stack, without a return address, is an error there. */
        (void)dwfl_getthread_frames(u->dwfl, t->tid, take_frame, &stack);
        *ret_why = stack.count ? trouble_in(&stack) : "not to be unwound";
    }
    return !*ret_why;
}
