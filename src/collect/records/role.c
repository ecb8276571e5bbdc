/* role.c: see role.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "role.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command_line.h"
#include "compiler.h"
#include "defs.h"
#include "target.h"

/* The role of a known process, if it is of that kind; else NULL. */
static const char *role_of(const struct ml_dict *dict, int64_t process, const char *kind)
{
    const struct ml_def *def =
        process >= 0 ? ml_dict_get(dict, ML_DEF_PROCESS, (uint32_t)process) : NULL;
    const char *text = "";
    size_t len = strlen(kind);

    if (def && def->fields[ML_PROCESS_ROLE])
        text = ml_dict_text(dict, (uint32_t)def->fields[ML_PROCESS_ROLE]);
    return !strncmp(text, kind, len) && (!text[len] || text[len] == ' ') ? text : NULL;
}

static uint32_t number_in(const char *role, const char *kind)
{
    return (uint32_t)strtoul(role + strlen(kind), NULL, 10);
}

static uint32_t next_number(const struct ml_dict *dict, const char *kind)
{
    uint32_t next = 0;

    for (size_t i = 0; i < dict->by_tag[ML_DEF_PROCESS].len; i++) {
        const char *role = role_of(dict, (int64_t)i, kind);
        if (role && number_in(role, kind) >= next)
            next = number_in(role, kind) + 1;
    }
    return next;
}

/* ---- Processes without a role in MXNet ------------------------------------ */

/* Whether the name begins with a target, as in "x86_64-linux-gnu-gcc", not as in "run-as". */
static bool has_target(const char *name)
{
    static const char *const machines[] = {"x86_64-", "i386-",        "i486-", "i586-", "i686-",
                                           "aarch64", "arm",          "ppc",   "mips",  "riscv",
                                           "powerpc", "loongarch64-", "s390",  "sparc", "nvptx"};
    const char *first_dash = strchr(name, '-');

    if (!first_dash || first_dash == strrchr(name, '-'))
        return false;
    for (size_t i = 0; i < ML_ARRAY_SIZE(machines); i++) {
        if (!strncmp(name, machines[i], strlen(machines[i])))
            return true;
    }
    return false;
}

/* The program of a command line, without folder, target and version. */
static void program_name(const char *command, char *ret, size_t room)
{
    const char *start;
    size_t len = ml_command_line_program(command, &start);

    snprintf(ret, room, "%.*s", (int)len, start);
    len = strlen(ret);
    while (len && strchr("0123456789.", ret[len - 1]))
        len--;
    if (len > 1 && ret[len - 1] == '-')
        ret[len - 1] = '\0';
    if (has_target(ret))
        memmove(ret, strrchr(ret, '-') + 1, strlen(strrchr(ret, '-')));
}

/* Compilers that frameworks start, and whose memory is rarely of interest. */
static bool is_compiler(const char *command)
{
    static const char *const names[] = {
        "cc", "c++", "gcc",  "g++",  "cc1",   "clang",    "clang++",   "cc1plus", "collect2",
        "as", "ld",  "nvcc", "cicc", "ptxas", "cudafe++", "fatbinary", "nvlink",  "ninja"};
    char name[64];

    program_name(command, name, sizeof(name));
    for (size_t i = 0; i < ML_ARRAY_SIZE(names); i++) {
        if (!strcmp(name, names[i]))
            return true;
    }
    return false;
}

/* "rank 3", "compiler", "rank 3 compiler"; "": neither is known. */
static void describe(const struct ml_hello *hello, struct ml_role *ret)
{
    char command[sizeof(hello->command)], rank[20] = "";
    const char *compiler;

    snprintf(command, sizeof(command), "%.*s", (int)sizeof(command) - 1, hello->command);
    compiler = is_compiler(command) ? "compiler" : "";
    if (hello->rank)
        snprintf(rank, sizeof(rank), "rank %u", hello->rank - 1);
    snprintf(ret->text, sizeof(ret->text), "%s%s%s", rank, *rank && *compiler ? " " : "", compiler);
}

void ml_role_find(const struct ml_hello *hello, int64_t parent, uint32_t how,
                  const struct ml_dict *dict, struct ml_role *ret)
{
    char kind[sizeof(hello->role)];
    const char *inherited;

    *ret = (struct ml_role){0};
    snprintf(kind, sizeof(kind), "%.*s", (int)sizeof(kind) - 1, hello->role);
    if (!kind[0]) {
        describe(hello, ret);
        return;
    }
    inherited = role_of(dict, parent, kind);
    ret->number = inherited ? number_in(inherited, kind) : next_number(dict, kind);
    if (hello->role_count == 1)
        snprintf(ret->text, sizeof(ret->text), "%s", kind);
    else
        snprintf(ret->text, sizeof(ret->text), "%s %u", kind, ret->number);
    ret->is_server = !strcmp(kind, "server") && !(inherited && how == ML_FORKED);
}

/* ---- As the program says ------------------------------------------------- */

static void name_parent(uint32_t process, struct ml_dict *dict)
{
    uint64_t parent =
        ml_dict_get(dict, ML_DEF_PROCESS, process)->fields[ML_PROCESS_PARENT]; /* + 1 */
    const struct ml_def *def =
        parent ? ml_dict_get(dict, ML_DEF_PROCESS, (uint32_t)(parent - 1)) : NULL;

    if (def && !def->fields[ML_PROCESS_ROLE])
        ml_dict_process_role(dict, (uint32_t)(parent - 1), "main");
}

void ml_role_note(struct ml_target *t, struct ml_dict *dict)
{
    struct ml_given_name *given = t->sets.len ? &t->sets.items[0].shared->role : NULL;
    char role[sizeof(given->text)], whole[sizeof(t->role.text) + sizeof(role)];

    if (!given || !ml_given_name_get(given, &t->times_role_given, role) || !role[0])
        return;
    snprintf(whole, sizeof(whole), "%s%s%s", t->role.text, t->role.text[0] ? " " : "", role);
    ml_dict_process_role(dict, t->process, whole);
    name_parent(t->process, dict);
}
