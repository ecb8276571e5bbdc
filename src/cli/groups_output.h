/* groups_output.h: the text and JSON of `memledger groups`, trace by trace.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_GROUPS_OUTPUT_H
#define ML_CLI_GROUPS_OUTPUT_H

#include "dictionary_option.h"
#include "expected_option.h"
#include "instant_command.h"
#include "json.h"

/* Without --dictionary; the second for traces of PyTorch alone. */
#define ML_GROUPS_DICTIONARIES "mxnet,layers"
#define ML_GROUPS_TORCH_DICTIONARIES "torch,layers"

enum ml_groups_style { ML_GROUPS_STYLE_TABLE, ML_GROUPS_STYLE_TBD, ML_GROUPS_STYLE_MXNET };

struct ml_groups_opts {
    struct ml_instant_opts instant; /* first, as its option entries want it */
    const char *dictionaries, *expected, *show;
    int match, style;
    int64_t top;
    bool gross;
};

/* The state that all traces share. */
struct ml_groups_output {
    const struct ml_groups_opts *opts;
    struct ml_at at;
    struct ml_expected_total expected;
    ml_dictionary_list dictionaries;
    struct ml_style style;
    struct ml_buf out;
    struct ml_json json;
    uint64_t tbd_unknown; /* allocations without a keyword, with --style tbd */
};

/* Reads the dictionaries of these names, in place of those that are loaded.
 * @return 0, or negative with the reason in `err` */
int ml_groups_load_dictionaries(struct ml_groups_output *g, const char *names,
                                struct ml_error *err);

/* Reads and prints the traces. @return an exit code; failures are printed */
int ml_groups_put_traces(struct ml_groups_output *g, char **files, size_t count);

/* The same with --style tbd, for traces, logs and folders (tbd_operands.h). A file that cannot be
 * read, such as a stray one in a folder, does not keep the others back. */
int ml_groups_put_tbd(struct ml_groups_output *g, char **operands, size_t count);

#endif
