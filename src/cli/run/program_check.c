/* program_check.c: finds a program and reads its ELF header.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "program_check.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "io.h"
#include "vec.h"

static bool is_program(const char *path)
{
    struct stat st;
    return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

static bool is_python(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && !strcmp(dot, ".py") && !access(name, F_OK);
}

static bool is_trace(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && !strcmp(dot, ".mled") && !access(name, F_OK);
}

static int not_found(const char *name, struct ml_error *err)
{
    struct stat st;

    if (is_python(name))
        return ml_error_set(err, -EACCES,
                            "%s is not a program by itself; use 'memledger run -- python3 %s'",
                            name, name);
    if (!stat(name, &st) && S_ISDIR(st.st_mode))
        return ml_error_set(err, -EACCES, "%s is a directory; name a program", name);
    if (!access(name, F_OK))
        return ml_error_set(err, -EACCES,
                            "%s is not an executable file; chmod +x makes a program or script one",
                            name);
    return ml_error_set(err, -ENOENT, "%s: no such program", name);
}

int ml_program_find(const char *name, char *ret, struct ml_error *err)
{
    const char *path = getenv("PATH");

    if (strchr(name, '/')) {
        if (!is_program(name) || snprintf(ret, PATH_MAX, "%s", name) >= PATH_MAX)
            return not_found(name, err);
        return 0;
    }
    for (const char *dir = path ? path : "/usr/local/bin:/usr/bin:/bin"; dir;) {
        const char *end = strchrnul(dir, ':');
        int n = snprintf(ret, PATH_MAX, "%.*s/%s", (int)(end - dir), end == dir ? "." : dir, name);
        if (n < PATH_MAX && is_program(ret))
            return 0;
        dir = *end ? end + 1 : NULL;
    }
    if (is_python(name))
        return not_found(name, err);
    if (is_program(name))
        return ml_error_set(err, -ENOENT, "%s: no such program in PATH; use ./%s", name, name);
    return ml_error_set(err, -ENOENT, "%s: no such program in PATH%s", name,
                        is_trace(name) ? "; memledger summary shows a trace" : "");
}

static bool has_interpreter(int fd, const Elf64_Ehdr *elf)
{
    for (unsigned i = 0; i < elf->e_phnum; i++) {
        Elf64_Phdr p;
        if (ml_pread_all(fd, &p, sizeof(p), elf->e_phoff + (uint64_t)i * sizeof(p)))
            return true;
        if (p.p_type == PT_INTERP)
            return true;
    }
    return false;
}

/* Whether the file's capabilities do more than limit those of the caller. */
static bool grants_capabilities(const char *path)
{
    struct vfs_ns_cap_data caps = {0};
    ssize_t n = getxattr(path, "security.capability", &caps, sizeof(caps));

    return n > 0 && (caps.data[0].permitted || caps.data[1].permitted);
}

/* Whether the system starts the program with rights that the user does not have: the
 * loader then ignores preloaded libraries. */
static const char *rights_obstacle(const char *path)
{
    struct statvfs mount;
    struct stat st;

    if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 || stat(path, &st) || statvfs(path, &mount) ||
        mount.f_flag & ST_NOSUID)
        return NULL;
    if (st.st_mode & S_ISUID && st.st_uid != getuid())
        return "runs with the rights of another user (setuid), so the system does not load the "
               "recorder into it; start memledger with those rights, as in 'sudo memledger run'";
    if (st.st_mode & S_ISGID && st.st_mode & S_IXGRP && st.st_gid != getgid())
        return "runs with the rights of another group (setgid), so the system does not load the "
               "recorder into it; record a copy without that bit, or start memledger in that "
               "group, as in 'newgrp GROUP'";
    if (getuid() && grants_capabilities(path))
        return "has file capabilities, so the system does not load the recorder into it; record "
               "a copy without them, or start memledger as root";
    return NULL;
}

static const char *elf_obstacle(int fd, bool *ret_foreign)
{
    Elf64_Ehdr elf;

    if (ml_pread_all(fd, &elf, sizeof(elf), 0) || memcmp(elf.e_ident, ELFMAG, SELFMAG))
        return NULL;
    *ret_foreign = elf.e_ident[EI_CLASS] != ELFCLASS64 || elf.e_machine != EM_X86_64;
    if (*ret_foreign)
        return "is not an x86-64 program, so the recorder cannot be loaded into it";
    if (elf.e_phentsize == sizeof(Elf64_Phdr) && !has_interpreter(fd, &elf))
        return "is statically linked, so the recorder cannot be loaded into it; link it "
               "dynamically";
    return NULL;
}

/* The interpreter in a script's first line, or false. */
static bool script_interpreter(int fd, char *ret, size_t room)
{
    ssize_t n = pread(fd, ret, room - 1, 0);
    size_t skip;

    if (n < 3 || memcmp(ret, "#!", 2))
        return false;
    ret[n] = '\0';
    skip = 2 + strspn(ret + 2, " \t");
    memmove(ret, ret + skip, strlen(ret + skip) + 1);
    ret[strcspn(ret, " \t\n")] = '\0';
    return ret[0];
}

const char *ml_program_obstacle(const char *path, bool *ret_foreign)
{
    char interpreter[256];
    const char *obstacle = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    *ret_foreign = false;
    if (fd >= 0 && script_interpreter(fd, interpreter, sizeof(interpreter))) {
        path = interpreter;
        close(fd);
        fd = open(path, O_RDONLY | O_CLOEXEC);
    }
    if (fd >= 0) {
        obstacle = elf_obstacle(fd, ret_foreign);
        close(fd);
    }
    /* Also for a program that may be executed but not read. */
    return obstacle ? obstacle : rights_obstacle(path);
}
