/* tbd_report.c: see tbd_report.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tbd_report.h"

#include <inttypes.h>
#include <string.h>

#include "float_text.h"
#include "utf8.h"

#define MIB (1024.0 * 1024.0)
#define STARS "**********************************\n"

/* ---- The printed report ----------------------------------------------------- */

static int put_unknown(const struct ml_tbd_analysis *a, struct ml_buf *out)
{
    int r = 0;

    /* The tag still has the end of its line. */
    for (size_t i = 0; r == 0 && i < a->unknown.len; i++)
        r = ml_buf_printf(out, "UNKNOWN TAG: %s\n\n", a->unknown.items[i]);
    return r;
}

static int put_categories(const struct ml_tbd_analysis *a, struct ml_buf *out)
{
    char mib[32];
    int r = 0;

    for (size_t i = 0; r == 0 && i < a->descending.len; i++) {
        const struct ml_tbd_category *c = &a->categories.items[a->descending.items[i]];

        r = ml_buf_printf(out, "%s = %s MBs Count:# %zu\n", c->name,
                          ml_format_python_float(mib, (double)c->bytes / MIB), c->tags.len);
    }
    return r;
}

static int put_total(const char *name, const struct ml_tbd_total *total, struct ml_buf *out)
{
    char mib[32];

    return ml_buf_printf(out, "Total %s=  %s MB\n", name,
                         total->any ? ml_format_python_float(mib, (double)total->bytes / MIB)
                                    : "0");
}

static int put_summary(const struct ml_tbd_analysis *a, struct ml_buf *out)
{
    int r = ml_buf_puts(out, "#############  SUMMARY #############\n");

    if (r == 0)
        r = put_total("Allocations", &a->all, out);
    if (r == 0)
        r = put_total("Weights", &a->weights, out);
    if (r == 0)
        r = put_total("Forward tags", &a->forward, out);
    if (r == 0)
        r = put_total("Unknown tags", &a->unknown_tags, out);
    return r < 0 ? r : ml_buf_printf(out, "Total Annotations=  %" PRIu64 "\n", a->annotations);
}

int ml_tbd_text(const struct ml_tbd_analysis *analysis, const char *file, struct ml_buf *out)
{
    int r = put_unknown(analysis, out);

    if (r == 0)
        r = ml_buf_printf(out, STARS STARS "Statistics for :  %s\n" STARS STARS, file);
    if (r == 0)
        r = put_categories(analysis, out);
    if (r == 0)
        r = put_summary(analysis, out);
    return r < 0 ? r : ml_buf_printf(out, "%s done\n", file);
}

/* ---- The written file ----------------------------------------------------- */

/* Python's json writes only ASCII. */
static int put_escape(struct ml_buf *out, uint32_t codepoint)
{
    if (codepoint < 0x10000)
        return ml_buf_printf(out, "\\u%04x", codepoint);
    codepoint -= 0x10000;
    return ml_buf_printf(out, "\\u%04x\\u%04x", 0xd800 + (codepoint >> 10),
                         0xdc00 + (codepoint & 0x3ff));
}

static int put_character(struct ml_buf *out, const char *at, size_t len, size_t *ret_bytes)
{
    uint32_t codepoint = 0xfffd;
    size_t bytes = ml_utf8_decode(at, len, &codepoint);

    *ret_bytes = bytes ? bytes : 1;
    if (codepoint == '"' || codepoint == '\\')
        return ml_buf_printf(out, "\\%c", (char)codepoint);
    if (codepoint == '\n')
        return ml_buf_puts(out, "\\n");
    if (codepoint < 0x20 || codepoint > 0x7e)
        return put_escape(out, codepoint);
    return ml_buf_append(out, at, bytes);
}

static int put_string(struct ml_buf *out, const char *text, const char *behind)
{
    size_t len = strlen(text), bytes;
    int r = ml_buf_puts(out, "\"");

    for (size_t i = 0; r == 0 && i < len; i += bytes)
        r = put_character(out, text + i, len - i, &bytes);
    return r < 0 ? r : ml_buf_printf(out, "%s\"", behind);
}

static int put_category(const struct ml_tbd_category *c, struct ml_buf *out)
{
    char bytes[32];
    int r = ml_buf_puts(out, "\n  ");

    if (r == 0)
        r = put_string(out, c->keyword, "");
    if (r == 0)
        r = ml_buf_printf(out, ": [\n    %s,\n    [",
                          ml_format_python_float(bytes, (double)c->bytes));
    for (size_t i = 0; r == 0 && i < c->tags.len; i++) {
        r = ml_buf_puts(out, i ? ",\n      " : "\n      ");
        if (r == 0)
            r = put_string(out, c->tags.items[i], "\\n");
    }
    return r < 0 ? r : ml_buf_puts(out, "\n    ]\n  ]");
}

int ml_tbd_json(const struct ml_tbd_analysis *analysis, struct ml_buf *out)
{
    int r = ml_buf_puts(out, "{");

    for (size_t i = 0; r == 0 && i < analysis->categories.len; i++) {
        r = i ? ml_buf_puts(out, ",") : 0;
        if (r == 0)
            r = put_category(&analysis->categories.items[i], out);
    }
    return r < 0 ? r : ml_buf_puts(out, analysis->categories.len ? "\n}" : "}");
}
