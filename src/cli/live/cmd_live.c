/* cmd_live.c: `memledger live`: a recording while it goes on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "live_loop.h"
#include "live_report.h"
#include "live_target.h"
#include "report_command.h"
#include "terminal.h"
#include "verbs.h"

struct live_opts {
    struct ml_report_opts report; /* first, as its option entries require */
    bool once, on_request;
    const char *by;
    int64_t top;
    double hz;
};

static const struct ml_option options[] = {
    {.name = "once",
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct live_opts, once),
     .help = "print the state now, once"},
    {.name = "by",
     .type = ML_OPT_STRING,
     .offset = offsetof(struct live_opts, by),
     .value_name = "KEY",
     .help = "list live memory by this key (category); keys as in table"},
    {.name = "top",
     .letter = 'n',
     .type = ML_OPT_INT,
     .offset = offsetof(struct live_opts, top),
     .value_name = "N",
     .help = "with --once or --json: list N rows (20)",
     .min = 0,
     .max = 1000000},
    {.name = "rate",
     .type = ML_OPT_NUMBER,
     .offset = offsetof(struct live_opts, hz),
     .value_name = "HZ",
     .help = "look HZ times a second (10)",
     .min = 1,
     .max = 60},
    {.name = "json",
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct live_opts, report.json),
     .help = "print a JSON object in one line each second; with --once only one"},
    {.name = "on-request",
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct live_opts, on_request),
     .help = "print a JSON object for each line of standard input"},
    ML_OPTION_UNIT,
};

static int print_list(const struct live_opts *opts)
{
    struct ml_style style = ml_report_style(&opts->report);
    struct ml_error err = {0};
    struct ml_buf out = {0};
    int status = ml_live_list(opts->report.json, &style, &out, &err) < 0 ? ml_report_fail(&err)
                                                                         : ml_report_write(&out);

    ml_buf_release(&out);
    return status;
}

static int print_once(struct ml_following *f, const char *file,
                      const struct ml_live_question *question, const struct live_opts *opts)
{
    struct ml_style style = ml_report_style(&opts->report);
    struct ml_error err = {0};
    struct ml_live_view view;
    struct ml_buf out = {0};
    int status, r = ml_live_view(f, question, &view, &err);

    if (r == 0)
        r = opts->report.json ? ml_live_json(&view, question, file, false, &out)
                              : ml_live_text(&view, question, file, &style, &out);
    status = r < 0 ? ml_report_fail(&err) : ml_report_write(&out);
    ml_buf_release(&out);
    ml_live_view_release(&view);
    return status;
}

static int show(const char *file, const struct ml_live_question *question,
                const struct live_opts *opts)
{
    struct ml_style style = ml_report_style(&opts->report);
    struct ml_following *f = NULL;
    struct ml_error err = {0};
    int r = ml_following_open(file, &f, &err), status = ML_EXIT_OK;

    if (r == 0)
        r = ml_following_show_end(f, &err);
    if (r < 0) {
        ml_following_free(f);
        return ml_report_fail(&err);
    }
    if (opts->once)
        status = print_once(f, file, question, opts);
    else if (opts->on_request)
        r = ml_live_on_request(f, file, question, &err);
    else if (!opts->report.json && ml_terminal_is_there())
        r = ml_live_on_terminal(f, file, question->by, opts->hz, &err);
    else
        r = ml_live_in_lines(f, file, question, opts->report.json, &style, &err);
    ml_following_free(f);
    return r < 0 ? ml_report_fail(&err) : status;
}

static int run(int argc, char **argv)
{
    struct live_opts opts = {.top = 20, .hz = 10, .by = "category"};
    struct ml_breakdown_opts keys = {0};
    struct ml_live_question question;
    struct ml_error err = {0};
    char *file = NULL;
    int first, status = ml_verb_begin(&ml_verb_live, &opts, argc, argv, &first);

    if (status >= 0)
        return status;
    if (argc - first > 1)
        return ml_verb_usage_error(&ml_verb_live, "only one recording at a time; remove '%s'",
                                   argv[first + 1]);
    if (ml_breakdown_parse(opts.by, &keys, &err) < 0 || keys.by_count != 1)
        return ml_verb_usage_error(&ml_verb_live, "--by: %s",
                                   err.code ? err.text : "name one key, not several");
    if (first == argc)
        return print_list(&opts);
    question = (struct ml_live_question){.by = keys.by[0], .top = (size_t)opts.top};
    if (ml_live_target(argv[first], &file, &err) < 0)
        return ml_report_fail(&err);
    status = show(file, &question, &opts);
    free(file);
    return status;
}

const struct ml_verb ml_verb_live = {
    .name = "live",
    .summary = "watch a recording while it goes on, in the terminal",
    .usage = "[OPTION]... [FILE|PID]",
    .details = "Without a file or process it lists what is being recorded on this machine.\n"
               "In the view, ? lists the keys and q quits; the program is not disturbed.",
    .group = ML_GROUP_LOOK,
    .operands = ML_OPERANDS_TRACES,
    .options = options,
    .option_count = ML_ARRAY_SIZE(options),
    .run = run,
};
