/* look_at_output.c: see look_at_output.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "look_at_output.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "fuzz.h"
#include "json_check.h"

/* Members that may be below 0: differences, and values of the program's own counters.
 * Everything else in JSON counts something. */
static const struct signed_member {
    const char *command, *key_end;
} signed_members[] = {
    {"events", "value"},
    {"stats", "last"},
    {"stats", "min"},
    {"stats", "max"},
    {"stats", "average"},
    {"export", "value"},
    {"leaks", "bytes_per_step"},
    {"ledger", "bytes"}, /* where books contradict each other */
    {"ledger", "percent"},
    {"groups", "bytes"}, /* of what was expected and is not there */
    {"groups", "percent"},
    {"export --format chrome", "sort_index"},
    {"compare", "_difference"},
    {"compare", "_percent"},
    {"sql", ""}, /* columns have no keys there, and SQLite's numbers have a sign */
};

static void fail(const char *line, const char *what, const char *at)
{
    fprintf(stderr, "memledger %s: %s: %.80s\n", line, what, at);
    abort();
}

/* ---- JSON ---------------------------------------------------------------- */

/* Whether the value at `value` may be below 0: the string before it is its key. */
static bool may_be_negative(const char *line, const char *text, const char *value)
{
    const char *end = value;

    while (end > text && end[-1] != '"')
        end--;
    for (size_t i = 0; i < ML_ARRAY_SIZE(signed_members); i++) {
        const struct signed_member *m = &signed_members[i];
        size_t len = strlen(m->key_end);
        const char *key = end - 1 - len;

        if (strncmp(line, m->command, strlen(m->command)) == 0 && key > text &&
            memcmp(key, m->key_end, len) == 0)
            return true;
    }
    return false;
}

static void look_at_json(const char *line, const char *text, size_t len)
{
    const char *wrong = json_error(text, len);
    bool in_string = false;

    if (wrong)
        fail(line, "no valid JSON", wrong);
    for (const char *at = text; *at; at++) {
        if (in_string && *at == '\\')
            at++;
        else if (*at == '"')
            in_string = !in_string;
        else if (!in_string && *at == '-' && at[-1] != 'e' && !may_be_negative(line, text, at))
            fail(line, "a number below 0", at - (at - text < 40 ? at - text : 40));
    }
}

/* ---- Text ---------------------------------------------------------------- */

/* An invalid share: "nan %", "inf %". Names may contain such words too, but not before a %. */
static void look_for_no_number(const char *line, const char *text)
{
    static const char *const words[] = {"nan %", "inf %"};

    for (size_t i = 0; i < ML_ARRAY_SIZE(words); i++) {
        const char *at = strstr(text, words[i]);

        if (at)
            fail(line, "no number", at);
    }
}

static bool begins_with(const char *line, const char *word)
{
    return strncmp(line, word, strlen(word)) == 0;
}

/* Of stats the counters come last. Their values are the program's own: PyTorch's total of a
 * device is below 0 after frees of what was allocated before its profiler started. */
static const char *end_of_counts(const char *line, const char *text)
{
    const char *counters = begins_with(line, "stats") ? strstr(text, "\nCounters ") : NULL;

    return counters ? counters : text + strlen(text);
}

/* "-1.5 KiB": a size, share or time below 0 where only differences may be. */
static void look_for_negatives(const char *line, const char *text)
{
    static const char *const units[] = {" B", " KiB", " MiB", " GiB", " TiB",
                                        " %", " ns",  " us",  " ms",  " s "};
    const char *end = end_of_counts(line, text);

    for (const char *at = text; (at = strstr(at, " -")) && at < end; at++) {
        size_t len = strspn(at + 2, "0123456789.,");

        for (size_t i = 0; len && i < ML_ARRAY_SIZE(units); i++)
            if (strncmp(at + 2 + len, units[i], strlen(units[i])) == 0)
                fail(line, "a quantity below 0", at);
    }
}

/* Of a picture: numbers between < and > are places on it. */
static void look_at_places(const char *line, const char *text)
{
    bool in_tag = false;
    size_t digits = 0;

    for (const char *at = text; *at; at++) {
        in_tag = *at == '<' || (in_tag && *at != '>');
        digits = in_tag && isdigit((unsigned char)*at) ? digits + 1 : 0;
        if (digits > 8)
            fail(line, "a place off the picture", at - 8);
    }
}

void look_at_output(const char *line, const struct ml_buf *output)
{
    /* What prints differences as text too, or what is no text at all. */
    static const char *const differences[] = {"export", "sql",    "compare",   "leaks",
                                              "ledger", "groups", "--expected"};
    const char *text = (const char *)output->data;

    if (!text)
        return;
    if (strstr(line, "--json") || strstr(line, "chrome") || strstr(line, "speedscope") ||
        strstr(line, "format json"))
        look_at_json(line, text, output->len);
    else if (!strstr(line, "pprof") && !strstr(line, "torch-snapshot"))
        look_for_no_number(line, text);
    for (size_t i = 0; i < ML_ARRAY_SIZE(differences); i++)
        if (strstr(line, differences[i]))
            return;
    look_for_negatives(line, text);
    if (begins_with(line, "plot"))
        look_at_places(line, text);
}
