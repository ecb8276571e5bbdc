/* debug_lines.c: see code_file.h; reads DWARF with libdw.
 *
 * libdw finds separate debug files by build-id and by .gnu_debuglink, and asks the servers of
 * DEBUGINFOD_URLS. If the file itself is not here, its debug file serves as well.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "code_file.h"
#include "elf_symbols.h"
#include "nanoseconds.h"
#include "vec.h"

#define PATH_ROOM 4096
#define USUAL_DEBUG_DIRS "+:.debug:/usr/lib/debug"
#define DEPTH_MAX 63   /* functions of one address */
#define NESTING_MAX 64 /* of namespaces and classes */
#define SERVER_TIMEOUT_S "10"
#define SERVERS_NS (20 * UINT64_C(1000000000)) /* that one process asks servers */

/* The addresses of a compilation unit. */
struct unit_range {
    Dwarf_Addr low, high; /* in the file's numbering */
    Dwarf_Die unit;
    Dwarf_Addr bias;
};

/* The addresses of a function. */
struct function_range {
    Dwarf_Addr low, high; /* in the unit's numbering */
    Dwarf_Die function;
};

struct code_file {
    const struct ml_code_search *search;
    Dwfl *dwfl;
    Dwfl_Module *module;
    ML_VEC(struct unit_range) units; /* by address; only if the file has no table of them */
    bool units_read;
    Dwarf_Off unit;                          /* whose functions these are */
    ML_VEC(struct function_range) functions; /* by address */
};

/* ---- Files ------------------------------------------------------------------ */

static char debug_path[PATH_ROOM];
static char *debug_path_pointer = debug_path;

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = &debug_path_pointer,
};

static void set_debug_path(const struct ml_code_search *search)
{
    const char *root = search->sysroot;

    snprintf(debug_path, sizeof(debug_path), "%s%s%s%s%s", USUAL_DEBUG_DIRS,
             search->debug_dir ? ":" : "", search->debug_dir ? search->debug_dir : "",
             root ? ":" : "", root ? root : "");
    if (root)
        strncat(debug_path, "/usr/lib/debug", sizeof(debug_path) - strlen(debug_path) - 1);
}

static bool report_file(struct code_file *f, const char *path, const struct ml_symbol_place *place)
{
    int fd = ml_elf_open(path, place->build_id);

    if (fd < 0)
        return false;
    f->module = dwfl_report_elf(f->dwfl, path, path, fd, 0, true);
    if (!f->module)
        close(fd);
    return f->module;
}

static bool report_debug_file(struct code_file *f, const char *folder,
                              const struct ml_symbol_place *place)
{
    char path[PATH_ROOM];
    int len;

    if (!folder || strlen(place->build_id) < 3)
        return false;
    len = snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s.debug", folder, place->build_id,
                   place->build_id + 2);
    return len > 0 && (size_t)len < sizeof(path) && report_file(f, path, place);
}

static size_t read_hex(const char *text, unsigned char ret[64])
{
    size_t n = 0;

    for (; n < 64 && text[2 * n] && text[2 * n + 1]; n++) {
        unsigned byte;

        if (sscanf(text + 2 * n, "%2x", &byte) != 1)
            return 0;
        ret[n] = (unsigned char)byte;
    }
    return n;
}

/* A file that only a server of debug files has. libdw asks it for the build-id. */
static bool report_build_id(struct code_file *f, const struct ml_symbol_place *place)
{
    unsigned char bits[64];
    size_t len = read_hex(place->build_id, bits);
    const char *servers = getenv(ML_SERVERS_VARIABLE);
    GElf_Addr bias;

    if (len == 0 || !servers || !*servers)
        return false;
    f->module = dwfl_report_module(f->dwfl, place->path, 0, (Dwarf_Addr)1 << 46);
    return f->module && dwfl_module_report_build_id(f->module, bits, len, 0) == 0 &&
           dwfl_module_getelf(f->module, &bias) && bias == 0;
}

/* libdw asks the servers from inside its functions, for each library again. One that does not
 * answer would hold up every library: from some time on this process asks no more. */
static void limit_servers(uint64_t start_ns)
{
    static uint64_t spent_ns;

    spent_ns += ml_clock_ns(CLOCK_MONOTONIC) - start_ns;
    if (spent_ns > SERVERS_NS)
        unsetenv(ML_SERVERS_VARIABLE);
}

static bool report(struct code_file *f, const struct ml_symbol_place *place)
{
    const char *root = f->search->sysroot ? f->search->sysroot : "";
    char path[PATH_ROOM], debug[PATH_ROOM];

    snprintf(path, sizeof(path), "%s%s", root, place->path);
    snprintf(debug, sizeof(debug), "%s/usr/lib/debug", root);
    return report_file(f, path, place) || report_debug_file(f, f->search->debug_dir, place) ||
           report_debug_file(f, debug, place) || report_build_id(f, place);
}

static bool open_code(struct code_file *f, const struct ml_symbol_place *place)
{
    uint64_t start_ns = ml_clock_ns(CLOCK_MONOTONIC);
    Dwarf_Addr bias;
    bool found;

    if (place->path[0] != '/')
        return false;
    setenv("DEBUGINFOD_TIMEOUT", SERVER_TIMEOUT_S, 0);
    set_debug_path(f->search);
    f->dwfl = dwfl_begin(&callbacks);
    if (!f->dwfl)
        return false;
    dwfl_report_begin(f->dwfl);
    found = report(f, place);
    dwfl_report_end(f->dwfl, NULL, NULL);
    if (found)
        (void)dwfl_module_getdwarf(f->module, &bias); /* asks for the debug file */
    limit_servers(start_ns);
    return found;
}

static void close_code(struct code_file *f)
{
    ml_vec_release(&f->units);
    ml_vec_release(&f->functions);
    if (f->dwfl)
        dwfl_end(f->dwfl);
}

/* ---- Compilation units ------------------------------------------------------ */

static int by_low(const void *left, const void *right)
{
    const struct unit_range *a = left, *b = right;

    return (a->low > b->low) - (a->low < b->low);
}

static void add_unit(struct code_file *f, Dwarf_Die *unit, Dwarf_Addr bias)
{
    Dwarf_Addr base, low, high;
    ptrdiff_t at = 0;

    while ((at = dwarf_ranges(unit, at, &base, &low, &high)) > 0)
        if (ml_vec_push(&f->units, (struct unit_range){low + bias, high + bias, *unit, bias}))
            return;
}

/* Clang and Rust write no table of the units' addresses. */
static void read_units(struct code_file *f)
{
    Dwarf_Die *unit = NULL;
    Dwarf_Addr bias;

    if (f->units_read)
        return;
    f->units_read = true;
    while ((unit = dwfl_module_nextcu(f->module, unit, &bias)))
        add_unit(f, unit, bias);
    ml_vec_sort(&f->units, by_low);
}

static Dwarf_Die *search_units(struct code_file *f, Dwarf_Addr address, Dwarf_Addr *ret_bias)
{
    size_t low = 0, high;

    read_units(f);
    high = f->units.len;
    while (low < high) {
        size_t middle = (low + high) / 2;

        if (f->units.items[middle].low <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || address >= f->units.items[low - 1].high)
        return NULL;
    *ret_bias = f->units.items[low - 1].bias;
    return &f->units.items[low - 1].unit;
}

static Dwarf_Die *find_unit(struct code_file *f, Dwarf_Addr address, Dwarf_Addr *ret_bias)
{
    Dwarf_Die *unit = dwfl_module_addrdie(f->module, address, ret_bias);

    return unit ? unit : search_units(f, address, ret_bias);
}

/* ---- The functions of a unit ------------------------------------------------- */

static int by_function_low(const void *left, const void *right)
{
    const struct function_range *a = left, *b = right;

    return (a->low > b->low) - (a->low < b->low);
}

static void add_function(struct code_file *f, Dwarf_Die *function)
{
    Dwarf_Addr base, low, high;
    ptrdiff_t at = 0;

    while ((at = dwarf_ranges(function, at, &base, &low, &high)) > 0)
        if (ml_vec_push(&f->functions, (struct function_range){low, high, *function}))
            return;
}

static bool may_contain_functions(int tag)
{
    return tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type ||
           tag == DW_TAG_union_type || tag == DW_TAG_module || tag == DW_TAG_subprogram;
}

static void add_functions(struct code_file *f, Dwarf_Die *parent, int nesting)
{
    Dwarf_Die child;
    int more = nesting < NESTING_MAX ? dwarf_child(parent, &child) : 1;

    for (; more == 0; more = dwarf_siblingof(&child, &child)) {
        int tag = dwarf_tag(&child);

        if (tag == DW_TAG_subprogram)
            add_function(f, &child);
        if (may_contain_functions(tag))
            add_functions(f, &child, nesting + 1);
    }
}

/* Addresses come in order, so that most of them are in the unit of the one before. */
static void read_functions(struct code_file *f, Dwarf_Die *unit)
{
    Dwarf_Off offset = dwarf_dieoffset(unit);

    if (f->unit == offset)
        return;
    f->unit = offset;
    ml_vec_clear(&f->functions);
    add_functions(f, unit, 0);
    ml_vec_sort(&f->functions, by_function_low);
}

static Dwarf_Die *find_function(struct code_file *f, Dwarf_Addr address)
{
    size_t low = 0, high = f->functions.len;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (f->functions.items[middle].low <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || address >= f->functions.items[low - 1].high)
        return NULL;
    return &f->functions.items[low - 1].function;
}

/* ---- Functions -------------------------------------------------------------- */

static const char *text_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;

    return dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
}

static const char *function_of(Dwarf_Die *die)
{
    const char *name = text_of(die, DW_AT_linkage_name);

    if (!name)
        name = text_of(die, DW_AT_MIPS_linkage_name);
    return name ? name : text_of(die, DW_AT_name);
}

/* The line from which an inlined function was called. */
static struct ml_code_line call_of(Dwarf_Die *unit, Dwarf_Die *inlined)
{
    struct ml_code_line line = {0};
    Dwarf_Attribute attribute;
    Dwarf_Word file = 0, number = 0;
    Dwarf_Files *files;
    size_t count;

    if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &number) == 0)
        line.line = (uint32_t)number;
    if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &file) == 0 &&
        dwarf_getsrcfiles(unit, &files, &count) == 0 && file < count)
        line.file = dwarf_filesrc(files, file, NULL, NULL);
    return line;
}

static struct ml_code_line line_at(Dwarf_Die *unit, Dwarf_Addr address)
{
    Dwarf_Line *source = dwarf_getsrc_die(unit, address);
    struct ml_code_line line = {0};
    int number = 0;

    if (source && dwarf_lineno(source, &number) == 0 && number > 0) {
        line.line = (uint32_t)number;
        line.file = dwarf_linesrc(source, NULL, NULL);
    }
    return line;
}

/* The part of a function that contains the address and may contain inlined functions. */
static bool find_part(Dwarf_Die *whole, Dwarf_Addr address, Dwarf_Die *ret)
{
    int more = dwarf_child(whole, ret);

    for (; more == 0; more = dwarf_siblingof(ret, ret)) {
        int tag = dwarf_tag(ret);

        if ((tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
             tag == DW_TAG_try_block || tag == DW_TAG_catch_block) &&
            dwarf_haspc(ret, address) > 0)
            return true;
    }
    return false;
}

/* The function and those inlined into it, outermost first. @return their number */
static int find_inlined(Dwarf_Die *function, Dwarf_Addr address, Dwarf_Die ret[DEPTH_MAX])
{
    Dwarf_Die part = *function, next;
    int count = 0;

    ret[count++] = part;
    for (int nesting = 0; nesting < 2 * NESTING_MAX && count < DEPTH_MAX; nesting++) {
        if (!find_part(&part, address, &next))
            break;
        part = next;
        if (dwarf_tag(&part) == DW_TAG_inlined_subroutine)
            ret[count++] = part;
    }
    return count;
}

/* An address in no function has no line either: the table of lines would give that of the code
 * before it. */
static void tell_lines(struct code_file *f, const struct ml_symbol_place *place)
{
    Dwarf_Addr bias = 0;
    Dwarf_Die *unit = find_unit(f, place->address, &bias), *function, functions[DEPTH_MAX];
    struct ml_code_line line;

    if (!unit)
        return;
    read_functions(f, unit);
    function = find_function(f, place->address - bias);
    if (!function)
        return;
    line = line_at(unit, place->address - bias);
    for (int i = find_inlined(function, place->address - bias, functions); i-- > 0;) {
        line.function = function_of(&functions[i]);
        f->search->found(f->search->ctx, place, &line);
        line = call_of(unit, &functions[i]);
    }
}

enum ml_symbol_depth ml_code_lines(const struct ml_code_search *search,
                                   const struct ml_symbol_place *places, uint32_t count)
{
    struct code_file f = {.search = search, .unit = (Dwarf_Off)-1};
    bool found = open_code(&f, places);
    Dwarf_Addr bias;
    bool has_lines = found && dwfl_module_getdwarf(f.module, &bias);

    for (uint32_t i = 0; has_lines && i < count; i++)
        tell_lines(&f, &places[i]);
    close_code(&f);
    return has_lines ? ML_SYMBOLS_LINES : found ? ML_SYMBOLS_NONE : ML_SYMBOLS_NO_FILE;
}
