/* run_program.h: records a program and its children.
 *
 * This process starts two others, the collector and the program, and waits.
 * The collector is a separate process so that neither the program's end nor ours can damage
 * the trace, and its own end cannot harm the program.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_RUN_PROGRAM_H
#define ML_CLI_RUN_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "growth.h"
#include "window.h"

/* As the default of --ring-size: see ring_asked of ring.h. */
#define ML_RING_BYTES_UNSAID UINT64_MAX

enum ml_names_mode { ML_NAMES_AUTO, ML_NAMES_OFF };
enum ml_symbolize_mode { ML_SYMBOLIZE_AUTO, ML_SYMBOLIZE_OFF };

/* The options of `memledger run`. */
struct ml_run_opts {
    const char *output;
    bool force;
    bool quiet;
    bool wait;
    bool paused;         /* until `memledger resume` */
    int heap;            /* enum ml_heap_mode */
    uint64_t heap_bytes; /* of a sample or a large block, for those modes */
    int cuda;            /* enum ml_cuda_mode */
    int names;           /* enum ml_names_mode */
    bool operators;
    int stacks; /* enum ml_stacks_mode */
    uint64_t ring_bytes;
    int64_t sample_hz;
    int symbols; /* enum ml_symbolize_mode */
    bool sample_only;
    int checkpoints; /* enum ml_checkpoint_use */
    int digest;      /* enum ml_digest_use */
    bool scan;       /* search the memory of processes at their exit */
    bool on_oom;     /* copies of the trace so far */
    const char *on_signal, *on_growth;
    int save_signal;                /* what they mean; 0: none */
    struct ml_growth_limit growth;  /* … */
    const char *keep;               /* as it was typed; NULL: everything … */
    struct ml_window_limits limits; /* … and what it means */
};

/* The words of these options, as they are typed and as the trace keeps them. Those of --cuda and
 * --stacks are in the order of enum ml_cuda_mode and enum ml_stacks_mode, those of --heap in that
 * of enum ml_heap_mode. */
extern const char *const ml_heap_choices[], *const ml_cuda_choices[], *const ml_stacks_choices[];

/* Runs the program and waits for its end, and with --wait for that of its children.
 * @argv   its command line
 * @return an exit code: the program's, or that of a failure, which is printed */
int ml_run_program(const struct ml_run_opts *opts, char **argv);

#endif
