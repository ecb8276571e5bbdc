/* options.h: one table per command drives parsing, --help, shell completion
 * and environment variables.
 *
 *     struct run_opts { const char *output; bool quiet; int heap; };
 *     static const struct ml_option options[] = {
 *         {.name = "output", .letter = 'o', .type = ML_OPT_STRING, .value_name = "FILE",
 *          .offset = offsetof(struct run_opts, output), .help = "where to write"},
 *     };
 *
 * A command fills its struct with defaults and calls ml_verb_begin; options
 * that are absent leave their field alone. Option NAME is also read from the
 * environment variable MEMLEDGER_NAME (capitals, '-' as '_'); the command line
 * wins. Every command has -h and --help without listing them.
 *
 * GNU conventions: --name=value, --name value, -nvalue, -n value, flags bundled as
 * -fq, "--" ends the options, "-" is an operand, a long name may be shortened
 * as long as it stays unique.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_OPTIONS_H
#define ML_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "vec.h"

/* The comments give the type of the field that an option sets. */
enum ml_option_type {
    ML_OPT_FLAG,            /* bool: no value; from the environment 1/0, yes/no, true/false */
    ML_OPT_STRING,          /* const char *: points into argv or the environment */
    ML_OPT_INT,             /* int64_t: min <= value <= max */
    ML_OPT_BYTES,           /* uint64_t: "4096", "1.5MiB" */
    ML_OPT_DURATION,        /* uint64_t nanoseconds: "20ms", "1.5s"; a plain number: seconds */
    ML_OPT_CHOICE,          /* int: index into choices */
    ML_OPT_OPTIONAL_CHOICE, /* int: the same; without "=value" index 1, and choices[0] is
                               the default */
    ML_OPT_NUMBER,          /* double: min <= value <= max */
};

struct ml_option {
    const char *name; /* "output" */
    enum ml_option_type type;
    char letter;                /* 'o', or 0 for none */
    bool no_env;                /* not read from the environment */
    size_t offset;              /* of the field in the command's struct */
    const char *value_name;     /* "FILE"; not for flags */
    const char *help;           /* one line, no capital, no full stop */
    int64_t min, max;           /* of ML_OPT_INT and ML_OPT_NUMBER */
    const char *const *choices; /* NULL-terminated; "large:BYTES" needs a size, "sample[:BYTES]"
                                   may have one */
    size_t amount_offset;       /* of such a size, a uint64_t that is set only if there is one */
    /* For shell completion: possible values of a string, NULL after the last;
     * NULL: not known. */
    const char *(*word)(size_t i);
    bool or_file; /* … or the name of a file */
};

/* The length of the word in a choice such as "sample[:BYTES]". */
size_t ml_choice_word(const char *choice);

/* The question that a command answers; `memledger --help` lists them in this order. */
enum ml_verb_group {
    ML_GROUP_RECORD,
    ML_GROUP_LOOK,
    ML_GROUP_COMPARE,
    ML_GROUP_WHY,
    ML_GROUP_EXCHANGE,
    ML_GROUP_OTHER,
    ML_GROUP_COUNT,
    ML_GROUP_HIDDEN, /* a hidden command */
};

/* The kind of operands, for shell completion. */
enum ml_operands { ML_OPERANDS_NONE, ML_OPERANDS_TRACES, ML_OPERANDS_PROGRAM, ML_OPERANDS_TOPIC };

/* One command. */
struct ml_verb {
    const char *name;    /* "summary" */
    const char *summary; /* one line for `memledger --help`, no capital, no full stop */
    const char *usage;   /* what follows the name: "[OPTION]... FILE" */
    const char *details; /* paragraphs below the options in --help; NULL: none */
    int (*more_details)(struct ml_buf *out); /* the same, from a table; NULL: none */
    enum ml_verb_group group;
    enum ml_operands operands;
    bool options_first; /* the first operand ends the options, as `run` needs */
    const struct ml_option *options;
    size_t option_count;
    /* An option that users look for here, and where it is; NULL: none. */
    struct {
        const char *option, *words;
    } elsewhere;
    int (*run)(int argc, char **argv); /* argv[0] is the verb; returns the exit code */
};

enum ml_exit { ML_EXIT_OK = 0, ML_EXIT_FAILURE = 1, ML_EXIT_USAGE = 2 };

enum { ML_OPTIONS_HELP = 1 };

/* Read the environment, then argv[1] and on, into `opts`. Unless the verb's
 * options come first, argv is reordered so that the operands are
 * at the end.
 * @opts   the command's struct, filled with defaults
 * @ret_first_operand  set on success: its index in argv, argc when there is none
 * @return 0; ML_OPTIONS_HELP when help was requested; -EINVAL with the reason */
int ml_options_parse(const struct ml_verb *verb, void *opts, int argc, char **argv,
                     int *ret_first_operand, struct ml_error *err);

/* "MEMLEDGER_SAMPLE_HZ" for the option "sample-hz". */
void ml_option_env_name(const struct ml_option *option, char *ret, size_t len);

/* The --help text of a command, from its table.
 * @return 0 or -ENOMEM */
int ml_verb_help_text(const struct ml_verb *verb, struct ml_buf *out);

/* The first call of every command: parses, and on --help or a mistake prints.
 * @return negative if the command is to continue, else the exit code to return */
int ml_verb_begin(const struct ml_verb *verb, void *opts, int argc, char **argv,
                  int *ret_first_operand);

/* Print "memledger: ..." and "see memledger VERB --help" to stderr.
 * @return ML_EXIT_USAGE */
int ml_verb_usage_error(const struct ml_verb *verb, const char *fmt, ...) ML_PRINTF(2, 3);

#endif
