/* torch_operators.c: PyTorch's operators as scopes, for `memledger run --ops`.
 *
 * PyTorch calls observers around each operator (at::addGlobalCallback). An observer is a structure
 * passed by value. Its beginning has been the same from 1.13 to 2.15; flags for features that are
 * not needed here follow, so enough zeros fit every version.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "memledger/memledger.h"
#include "names.h"
#include "record.h"
#include "recorder.h"
#include "torch_real.h"
#include "torch_scopes.h"

#define ADD_CALLBACK "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE"
#define NAME_OF "_ZNK2at14RecordFunction4nameEv"

/* From at::RecordScope: which kind of event to observe. */
enum { SCOPE_FUNCTION = 0 };

struct observer {
    void *(*start)(void **ret_context, const void *function);
    void (*end)(const void *function, void *context);
    double probability;
    uint8_t scopes[40]; /* one flag each, then flags for inputs, outputs, ids */
};

typedef uint64_t add_function(struct observer observer);
typedef const char *name_function(const void *function);

static name_function *name_of;

/* Returns no context: there is nothing to release. */
static void *start(void **ret_context, const void *function)
{
    *ret_context = NULL;
    ml_record_push(MEMLEDGER_SCOPE_OPERATOR, ml_name(name_of(function)));
    return ret_context;
}

static void end(const void *function, void *context)
{
    (void)function, (void)context;
    ml_record_pop();
}

void ml_torch_operators_begin(void)
{
    static atomic_flag begun = ATOMIC_FLAG_INIT;
    add_function *add = (add_function *)ml_torch_function(ADD_CALLBACK);
    struct observer observer = {start, end, 1.0, {[SCOPE_FUNCTION] = 1}};

    name_of = (name_function *)ml_torch_function(NAME_OF);
    if (!add || !name_of || atomic_flag_test_and_set(&begun))
        return;
    ml_torch_operators = true;
    add(observer);
}
