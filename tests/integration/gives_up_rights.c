/* gives_up_rights.c: a program that gives up rights, or enters a sandbox, and then asks the
 * profiler to write to files.
 *
 *     gives_up_rights HOW PATH...       HOW: setuid, chroot:FOLDER, namespaces:FOLDER, seccomp,
 *                                       nothing
 *     gives_up_rights HOW swap PATH OWN OTHER
 *
 * Tries each path through every way to name one and prints "WAY 0|-1 PATH|REASON". With `swap`
 * PATH is a link that another thread leads to OWN and to OTHER in turn, while profiles are
 * dumped there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "memledger/memledger.h"

#define NOBODY 65534
#define SWAPS 300

static void need(int failed, const char *what)
{
    if (!failed)
        return;
    perror(what);
    exit(3);
}

/* ---- Giving up ---------------------------------------------------------- */

static void become_nobody(void)
{
    need(setgroups(0, NULL), "setgroups");
    need(setresgid(NOBODY, NOBODY, NOBODY), "setresgid");
    need(setresuid(NOBODY, NOBODY, NOBODY), "setresuid");
}

static void change_root(const char *folder)
{
    need(chroot(folder), "chroot");
    need(chdir("/"), "chdir");
}

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    need(!f || fputs(text, f) < 0 || fclose(f), path);
}

/* Another file system lies over the folder from here on, for this process alone. */
static void enter_namespaces(const char *folder)
{
    char user[32], group[32];

    snprintf(user, sizeof(user), "0 %u 1", getuid());
    snprintf(group, sizeof(group), "0 %u 1", getgid());
    need(unshare(CLONE_NEWUSER | CLONE_NEWNS), "unshare");
    put("/proc/self/setgroups", "deny");
    put("/proc/self/uid_map", user);
    put("/proc/self/gid_map", group);
    need(mount("none", folder, "tmpfs", 0, NULL), "mount");
}

/* Files cannot be opened any more. */
static void forbid_open(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_open, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    };
    struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};

    need(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
    need(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), "seccomp");
}

static void give_up(const char *how)
{
    const char *colon = strchr(how, ':');

    if (!strcmp(how, "setuid"))
        become_nobody();
    else if (!strncmp(how, "chroot:", 7))
        change_root(colon + 1);
    else if (!strncmp(how, "namespaces:", 11))
        enter_namespaces(colon + 1);
    else if (!strcmp(how, "seccomp"))
        forbid_open();
}

/* ---- Asking ------------------------------------------------------------- */

static memledger_object counter;

static void say(const char *way, int result, const char *path)
{
    printf("%s %d %s\n", way, result, result ? memledger_last_error() : path);
    fflush(stdout);
}

static int name_file(const char *path, const char *process)
{
    return memledger_set_config(2, (const char *[]){"filename", "profile_process"},
                                (const char *[]){path, process});
}

static void by_dump(const char *path)
{
    int r = name_file(path, "worker");

    memledger_set_state(MEMLEDGER_RUN);
    memledger_counter_set(counter, 7);
    if (!r)
        r = memledger_dump(1);
    say("dump", r, path);
}

/* The name changes while the profile runs; the end of the file is that of the next name. */
static void by_renaming(const char *path)
{
    const char *text;
    int r;

    memledger_set_state(MEMLEDGER_RUN);
    r = name_file(path, "worker");
    memledger_counter_set(counter, 7);
    memledger_stats(&text, 0, MEMLEDGER_JSON, MEMLEDGER_BY_TOTAL, 0);
    if (!r)
        r = memledger_dump(0);
    say("renaming", r, path);
}

/* This process is a server too: see `DMLC_ROLE`. */
static void by_server(const char *path)
{
    int r = name_file(path, "server");

    memledger_set_process_state(MEMLEDGER_RUN, MEMLEDGER_SERVER);
    memledger_counter_set(counter, 7);
    if (!r)
        r = memledger_dump_process(1, MEMLEDGER_SERVER);
    say("server", r, path);
}

/* ---- A path that changes ------------------------------------------------ */

static _Atomic int done;
static char **swapped;

static void *swap(void *unused)
{
    char next[4096];

    (void)unused;
    snprintf(next, sizeof(next), "%s.next", swapped[0]);
    for (int i = 0; !done; i++) {
        unlink(next);
        if (symlink(swapped[1 + i % 2], next) || rename(next, swapped[0]))
            break;
    }
    return NULL;
}

static void dump_while_swapped(char **paths)
{
    pthread_t thread;
    int written = 0;

    swapped = paths;
    need(pthread_create(&thread, NULL, swap, NULL), "pthread_create");
    need(name_file(paths[0], "worker"), "set_config");
    for (int i = 0; i < SWAPS; i++) {
        memledger_set_state(MEMLEDGER_RUN);
        memledger_counter_set(counter, (uint64_t)i);
        written += !memledger_dump(1);
    }
    done = 1;
    pthread_join(thread, NULL);
    printf("swap %d\n", written);
}

int main(int argc, char **argv)
{
    counter = memledger_counter(memledger_domain("d"), "c");
    give_up(argv[1]);
    if (argc == 6 && !strcmp(argv[2], "swap")) {
        dump_while_swapped(argv + 3);
        return 0;
    }
    for (int i = 2; i < argc; i++) {
        by_dump(argv[i]);
        by_renaming(argv[i]);
        by_server(argv[i]);
    }
    for (int i = 2; i < argc; i++) /* what is in other namespaces only this process can see */
        printf("exists %d %s\n", access(argv[i], F_OK), argv[i]);
    return 0;
}
