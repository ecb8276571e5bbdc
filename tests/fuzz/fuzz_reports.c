/* fuzz_reports.c: any bytes as a trace, or as a file that can be imported, through every
 * report, picture and export of the command. Each succeeds or gives a reason, its JSON is
 * valid, and it prints no number that cannot be.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"

#include <inttypes.h>
#include <string.h>

#include <xxhash.h>

#include "importer.h"
#include "look_at_output.h"
#include "run_command.h"
#include "trace_sample.h"
#include "verbs.h"

#define MOST_LINE 128
#define MOST_WORDS 16
#define FIRST 100
#define SOME 16

/* In the lines below, @ is the trace, @other another trace, @at one of `instants`,
 * @by one of `keys`, @table one of `tables`, @question one of `questions`, and @svg and
 * @sqlite are where a picture and a database go. */
static const char *const reports[] = {
    "summary @",
    "summary --json @",
    "stats @",
    "stats --json @",
    "events @",
    "events --json @",
    "ledger --at @at @",
    "ledger --at @at --json @",
    "tree --at @at @",
    "tree --at @at --json @",
    "layers --at @at @",
    "layers --at @at --json @",
    "table --at @at --by @by @",
    "table --at @at --by @by --json @",
    "table --by @by --temporary @",
    "table --by @by --temporary --json @",
    "steps @",
    "steps --json @",
    "leaks --by @by @",
    "leaks --by @by --json @",
    "oom @",
    "oom --at oom:1 @",
    "oom --json @",
    "fragmentation --at @at @",
    "fragmentation --at @at --json @",
    "groups --at @at @",
    "groups --at @at --json --expected auto @",
    "groups --gross --json @",
    "groups --style mxnet @",
    "groups --style tbd @",
    "compare --at @at --by @by @other @",
    "compare --at @at --by @by --json @ @other",
    "plot --width 300 --kind timeline -o @svg @",
    "plot --width 300 --kind bars --at @at -o @svg @",
    "plot --width 300 --kind categories --at @at --expected auto -o @svg @",
    "plot --width 300 --kind flame --at @at -o @svg @",
    "plot --width 300 --kind icicle --at @at -o @svg @",
    "plot --width 300 --kind lifetimes -o @svg @",
    "plot --width 300 --kind segments --at @at -o @svg @",
    "export --format chrome -o - @",
    "export --format csv --table @table -o - @",
    "export --format json --table @table -o - @",
    "export --format mxnet-csv -o - @",
    "export --format mxnet-log -o - @",
    "export --format mxnet-pool-csv -o - @",
    "export --format nvidia-smi -o - @",
    "export --format pprof -o - @",
    "export --format speedscope --at @at -o - @",
    "export --format tbd-log -o - @",
    "export --format tbd-analysis -o - @",
    "export --format torch-snapshot -o - @",
};

/* Slower, or nearly the same: the first inputs, which are the files themselves, go through
 * them too, then one in SOME. */
static const char *const more_reports[] = {
    "ledger --at @at --device host --json @",
    "layers --csv @",
    "table --by @by --csv @",
    "steps --csv @",
    "groups --gross @",
    "compare --each step @ @other",
    "compare --each step --json @other @",
    "compare --each phase @other @",
    "compare --each phase --json @ @other",
    "sql @",
    "sql --json @ @question",
    "sql @ @question",
    "plot --width 300 --kind timeline --by module -o @svg @",
    "plot --width 300 --kind timeline --by device -o @svg @",
    "plot --width 300 --kind timeline -o @svg @ @other",
    "plot --width 300 --kind categories --grid --gross -o @svg @ @other",
    "export --format sqlite --force -o @sqlite @",
};

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
    uint64_t reached; /* inputs that the reports were run on */
} paths;

static void tell_reached(void)
{
    printf("%" PRIu64 " of them were reported on, each %zu to %zu times\n", paths.reached,
           ML_ARRAY_SIZE(reports), ML_ARRAY_SIZE(reports) + ML_ARRAY_SIZE(more_reports));
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
    atexit(tell_reached);
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

/* What stands for a word of a line; the input decides which. */
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
    for (size_t i = 0; i < ML_ARRAY_SIZE(reports); i++)
        run_report(reports[i], choice + i);
    if (paths.reached < FIRST || choice % SOME == 0)
        for (size_t i = 0; i < ML_ARRAY_SIZE(more_reports); i++)
            run_report(more_reports[i], choice + i);
    paths.reached++;
    return 0;
}
