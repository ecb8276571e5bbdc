/* report_lines.c: see report_lines.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "report_lines.h"

#include <inttypes.h>

#include "compiler.h"
#include "fuzz.h"

/* The first inputs, which are the files themselves, go through all lines, the slow ones
 * too; then one in SOME goes through those. */
#define FIRST 100
#define SOME 16

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
    "check --max-peak 1 --max-leaks 1 @",
    "check --max-growth 1/step --json @",
    "steps --json @",
    "leaks --by @by @",
    "leaks --by @by --json @",
    "oom @",
    "oom --at oom:1 @",
    "oom --json @",
    "fragmentation --at @at @",
    "fragmentation --at @at --json --blocks @",
    "blocks @",
    "blocks --at @at --json @",
    "blocks --at @at --address 0x1000 @",
    "blocks --width 100 --top 50 --json @",
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
    "ledger --at @at --device host --json @",
    "layers --csv @",
    "table --by @by --csv @",
    "steps --csv @",
    "groups --gross @",
    "compare --each step @ @other",
    "compare --each step --json @other @",
    "compare --each phase @other @",
    "compare --each phase --json @ @other",
    "table --of calls --at @at --by @by @",
    "table --of leaked --by @by --json @",
    "table --of allocated --by @by --csv @",
    "tree --by callees --at @at @",
    "tree --by callers --of temporary --json @",
    "leaks --never-freed @",
    "leaks --never-freed --json @",
    "plot --width 300 --kind flame --by stack --of allocated -o @svg @",
    "plot --width 300 --kind icicle --by callers -o @svg @",
    "plot --width 300 --kind timeline --by module -o @svg @",
    "plot --width 300 --kind timeline --by device -o @svg @",
    "plot --width 300 --kind timeline -o @svg @ @other",
    "plot --width 300 --kind categories --grid --gross -o @svg @ @other",
};

/* These build a database. */
static const char *const slow_reports[] = {
    "sql @",
    "sql --json @ @question",
    "sql @ @question",
    "export --format sqlite --force -o @sqlite @",
};

#define REPORTS ML_ARRAY_SIZE(reports)
#define SLOW_REPORTS ML_ARRAY_SIZE(slow_reports)

/* One round of turns: every line SOME times, and the slow ones once. */
#define TURNS (REPORTS * SOME + SLOW_REPORTS)
#define STRIDE 401 /* a prime, so that all turns come, and neighbours go to different inputs */
_Static_assert(TURNS % STRIDE != 0, "some turns would never come");

static struct {
    size_t rotate; /* 0: every input goes through every line */
    uint64_t inputs, runs;
    uint64_t runs_of[REPORTS], slow_runs_of[SLOW_REPORTS];
} done;

void report_lines_rotate(size_t count)
{
    done.rotate = count;
}

static void run_report(report_line_fn *run, size_t i, uint64_t choice)
{
    run(reports[i], choice + i);
    done.runs_of[i]++;
    done.runs++;
}

static void run_slow_report(report_line_fn *run, size_t i, uint64_t choice)
{
    run(slow_reports[i], choice + i);
    done.slow_runs_of[i]++;
    done.runs++;
}

static void run_turn(report_line_fn *run, uint64_t turn, uint64_t choice)
{
    if (turn < REPORTS * SOME)
        run_report(run, turn % REPORTS, choice);
    else
        run_slow_report(run, turn - REPORTS * SOME, choice);
}

/* The high bits say which turns, since the low ones say which words. */
static void run_some(report_line_fn *run, uint64_t choice)
{
    uint64_t first = (choice >> 32) % TURNS;

    for (size_t i = 0; i < done.rotate; i++)
        run_turn(run, (first + i * STRIDE) % TURNS, choice);
}

static void run_all(report_line_fn *run, uint64_t choice, bool slow_too)
{
    for (size_t i = 0; i < REPORTS; i++)
        run_report(run, i, choice);
    for (size_t i = 0; slow_too && i < SLOW_REPORTS; i++)
        run_slow_report(run, i, choice);
}

void report_lines_run(report_line_fn *run, uint64_t choice)
{
    bool first = done.inputs++ < FIRST;

    if (done.rotate && !first)
        run_some(run, choice);
    else
        run_all(run, choice, first || choice % SOME == 0);
}

void report_lines_tell(void)
{
    printf("%" PRIu64 " of them were reported on, in %" PRIu64 " runs of %zu command lines\n",
           done.inputs, done.runs, REPORTS + SLOW_REPORTS);
}

void report_lines_tell_each(void)
{
    for (size_t i = 0; i < REPORTS; i++)
        printf("%10" PRIu64 "  %s\n", done.runs_of[i], reports[i]);
    for (size_t i = 0; i < SLOW_REPORTS; i++)
        printf("%10" PRIu64 "  %s\n", done.slow_runs_of[i], slow_reports[i]);
}
