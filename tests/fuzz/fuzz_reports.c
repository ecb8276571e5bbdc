/* fuzz_reports.c: any bytes as a trace, or as a file that can be imported, through every
 * report, picture and export of the command. Each succeeds or gives a reason, its JSON is
 * valid, and it prints no impossible number.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"

#include <string.h>

#include <xxhash.h>

#include "importer.h"
#include "look_at_output.h"
#include "report_lines.h"
#include "run_command.h"
#include "trace_sample.h"
#include "verbs.h"

#define MOST_LINE 128
#define MOST_WORDS 16

static const char *const instants[] = {"peak",   "end",        "oom",  "step:1",
                                       "step:2", "step:2:end", "20ns", "1ms"};
static const char *const keys[] = {
    "module", "category", "label",  "scope", "class",   "phase",           "thread",
    "stack",  "line",     "device", "space", "process", "category,module", "line,thread",
};
static const char *const tables[] = {
    "allocations", "events", "labels", "marks",  "processes",
    "samples",     "scopes", "spaces", "stacks", "threads",
};
static const char *const questions[] = {
    "SELECT * FROM events", "SELECT * FROM allocations", "SELECT * FROM samples",
    "SELECT * FROM scopes", "SELECT * FROM stacks",      "SELECT * FROM labels",
    "SELECT * FROM marks",  "SELECT * FROM processes",   "SELECT sum(bytes) FROM allocations",
};

static struct {
    char trace[128], other[128], svg[128], sqlite[128];
    struct ml_buf text;
} paths;

static void release_text(void)
{
    ml_buf_release(&paths.text);
}

static void begin_once(void)
{
    struct ml_buf sample = {0};

    if (paths.trace[0])
        return;
    snprintf(paths.trace, sizeof(paths.trace), "%s/trace.mled", fuzz_folder());
    snprintf(paths.other, sizeof(paths.other), "%s/other.mled", fuzz_folder());
    snprintf(paths.svg, sizeof(paths.svg), "%s/plot.svg", fuzz_folder());
    snprintf(paths.sqlite, sizeof(paths.sqlite), "%s/export.sqlite", fuzz_folder());
    FUZZ_REQUIRE(ml_sample_make(NULL, &sample) == 0);
    fuzz_write_file(paths.other, sample.data, sample.len);
    ml_buf_release(&sample);
    atexit(release_text);
}

/* ---- The trace ----------------------------------------------------------- */

static bool import(const uint8_t *data, size_t len)
{
    const struct ml_import_format *format;
    struct ml_import_source source;
    struct ml_import_sink sink;
    struct ml_error err = {0};
    int code;

    ml_import_source_memory(&source, data, len);
    code = ml_import_recognise(&source, &format, &err);
    if (code == 0) {
        FUZZ_REQUIRE(ml_import_sink_open(&sink, paths.trace, true, &err) == 0);
        code = ml_import_run(format, &source, &sink, &err);
        if (code == 0)
            code = ml_import_sink_close(&sink, NULL, &err);
        else
            ml_import_sink_abandon(&sink);
    }
    ml_import_source_release(&source);
    FUZZ_REQUIRE(code <= 0 && (code == 0 || err.text[0]));
    return code == 0;
}

/* With salvage: more of them open, and those that open without are read alike. */
static bool opens(const uint8_t *data, size_t len)
{
    struct ml_error err = {0};
    struct ml_trace *trace = NULL;

    if (ml_bytes_open(data, len, true, &trace, &err))
        return false;
    ml_trace_free(trace);
    fuzz_write_file(paths.trace, data, len);
    return true;
}

/* ---- The reports --------------------------------------------------------- */

/* The values of a line's placeholders; the input selects one. */
static const char *choose(const char *word, uint64_t choice)
{
    if (strcmp(word, "@") == 0)
        return paths.trace;
    if (strcmp(word, "@other") == 0)
        return paths.other;
    if (strcmp(word, "@svg") == 0)
        return paths.svg;
    if (strcmp(word, "@sqlite") == 0)
        return paths.sqlite;
    if (strcmp(word, "@at") == 0)
        return instants[choice % ML_ARRAY_SIZE(instants)];
    if (strcmp(word, "@by") == 0)
        return keys[choice % ML_ARRAY_SIZE(keys)];
    if (strcmp(word, "@table") == 0)
        return tables[choice % ML_ARRAY_SIZE(tables)];
    if (strcmp(word, "@question") == 0)
        return questions[choice % ML_ARRAY_SIZE(questions)];
    return word;
}

static bool has_word(char *const *words, const char *word)
{
    while (*words && strcmp(*words, word) != 0)
        words++;
    return *words;
}

static void run_report(const char *line, uint64_t choice)
{
    char own[MOST_LINE], *words[MOST_WORDS + 1];
    int count = 0, status;

    snprintf(own, sizeof(own), "%s", line);
    for (char *word = strtok(own, " "); word; word = strtok(NULL, " ")) {
        FUZZ_REQUIRE(count < MOST_WORDS - 1);
        words[count++] = (char *)choose(word, choice);
    }
    words[count++] = "--salvage";
    words[count] = NULL;
    status = fuzz_run_command(count, words, &paths.text);
    /* For compare an instant that a trace does not have is one. */
    FUZZ_REQUIRE(status != ML_EXIT_USAGE || strcmp(words[0], "compare") == 0);
    if (status == ML_EXIT_OK && has_word(words, paths.svg))
        fuzz_read_file(paths.svg, &paths.text);
    if (status == ML_EXIT_OK)
        look_at_output(line, &paths.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    uint64_t choice = XXH3_64bits(data, len) >> 1; /* more can be added to it */

    begin_once();
    if (!(fuzz_is_trace(data, len) ? opens(data, len) : import(data, len)))
        return 0;
    report_lines_run(run_report, choice);
    return 0;
}

/* ---- For the driver ------------------------------------------------------ */

bool fuzz_take_option(const char *option, const char *value)
{
    if (strcmp(option, "--rotate") != 0)
        return false;
    report_lines_rotate(strtoull(value, NULL, 10));
    return true;
}

void fuzz_tell(bool at_end)
{
    report_lines_tell();
    if (at_end)
        report_lines_tell_each();
}
