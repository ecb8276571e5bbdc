/* contained.c: runs a program under a seccomp filter like those of container engines: calls for
 * mounts, modules and namespaces fail, clone3 does not exist, and clone may make no namespace.
 * With --kill, mincore ends the process.
 *
 *     contained [--kill] PROGRAM [ARGUMENT]...
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_clone3
#define SYS_clone3 435
#endif

#define NAMESPACES 0x7e020000 /* of clone's flags */
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define FAIL(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
#define UNLESS(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1)
#define REFUSE(number, error) UNLESS(number), FAIL(error)

int main(int argc, char **argv)
{
    bool kill = argc > 1 && !strcmp(argv[1], "--kill");
    struct sock_filter code[] = {
        LOAD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        LOAD(nr),
        REFUSE(SYS_mount, EPERM),
        REFUSE(SYS_umount2, EPERM),
        REFUSE(SYS_unshare, EPERM),
        REFUSE(SYS_setns, EPERM),
        REFUSE(SYS_bpf, EPERM),
        REFUSE(SYS_init_module, EPERM),
        REFUSE(SYS_perf_event_open, EPERM),
        REFUSE(SYS_clone3, ENOSYS),
        UNLESS(SYS_mincore),
        BPF_STMT(BPF_RET | BPF_K, kill ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ALLOW),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
        LOAD(args[0]),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NAMESPACES, 0, 1),
        FAIL(EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof(code) / sizeof(code[0]), code};
    char **program = argv + 1 + kill;

    if (!*program || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) {
        perror("contained");
        return 1;
    }
    execv(*program, program);
    perror(*program);
    return 1;
}
