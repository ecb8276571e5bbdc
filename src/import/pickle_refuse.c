/* pickle_refuse.c: the message for an opcode that is not plain data.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "compiler.h"
#include "pickle_machine.h"

struct refused {
    uint8_t op;
    const char *name;
};

static const struct refused refused_ops[] = {
    {'c', "GLOBAL"},    {0x93, "STACK_GLOBAL"}, {'R', "REDUCE"},
    {'b', "BUILD"},     {'i', "INST"},          {'o', "OBJ"},
    {0x81, "NEWOBJ"},   {0x92, "NEWOBJ_EX"},    {'P', "PERSID"},
    {'Q', "BINPERSID"}, {0x82, "EXT1"},         {0x83, "EXT2"},
    {0x84, "EXT4"},     {0x97, "NEXT_BUFFER"},  {0x98, "READONLY_BUFFER"},
};

#define TEXT_OPS "ILFSVgp" /* of protocol 0 */

/* "module.name" in printable characters: it goes to a terminal. */
static void put_name(char *to, size_t room, const char *module, size_t module_len, const char *name,
                     size_t name_len)
{
    snprintf(to, room, "%.*s.%.*s", (int)module_len, module, (int)name_len, name);
    for (; *to; to++)
        if (!isprint((unsigned char)*to))
            *to = '?';
}

/* "module\nname\n" after GLOBAL and INST. */
static void global_name(struct ml_pickle_machine *m, char *to, size_t room)
{
    const uint8_t *module = NULL, *name, *end;
    size_t len = 0;

    if (ml_import_peek(m->source, room, &module, &len, NULL) < 0 || len == 0)
        return;
    name = memchr(module, '\n', len);
    if (!name++)
        return;
    end = memchr(name, '\n', len - (size_t)(name - module));
    if (end)
        put_name(to, room, (const char *)module, (size_t)(name - 1 - module), (const char *)name,
                 (size_t)(end - name));
}

/* Module and name are the two values on top. */
static void stack_global_name(const struct ml_pickle_machine *m, char *to, size_t room)
{
    const char *module, *name;

    if (m->stack.len < 2)
        return;
    module = ml_pickle_chars(m, m->stack.items[m->stack.len - 2], NULL);
    name = ml_pickle_chars(m, m->stack.items[m->stack.len - 1], NULL);
    if (module && name)
        put_name(to, room, module, strnlen(module, room), name, strnlen(name, room));
}

int ml_pickle_refuse(struct ml_pickle_machine *m, uint8_t op, struct ml_error *err)
{
    char name[128] = "";

    if (op && strchr(TEXT_OPS, op))
        return ml_pickle_bad(
            m, err, "a pickle of protocol 0 or 1; write it again with protocol 2 or later");
    if (op == 'c' || op == 'i')
        global_name(m, name, sizeof(name));
    else if (op == 0x93)
        stack_global_name(m, name, sizeof(name));
    for (size_t i = 0; i < ML_ARRAY_SIZE(refused_ops); i++) {
        if (refused_ops[i].op != op)
            continue;
        return ml_error_set(err, -EINVAL,
                            "%s: byte %" PRIu64 ": the pickle asks for %s%s (%s); only plain "
                            "data is read, nothing in a file is ever run",
                            m->source->name, m->op_offset, name[0] ? "" : "an object", name,
                            refused_ops[i].name);
    }
    return ml_error_set(err, -EINVAL,
                        "%s: byte %" PRIu64 ": 0x%02x is not a pickle opcode; the file is damaged "
                        "or not a pickle",
                        m->source->name, m->op_offset, op);
}
