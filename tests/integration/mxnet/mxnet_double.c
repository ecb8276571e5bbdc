/* mxnet_double.c: a library with MXNet's name, of an unknown version or build. VERSION is the
 * version it reports; HAS_STORAGE gives it the functions of 1.9.1, in a different order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#define SYMBOL(name) __asm__(name)

int MXGetVersion(int *ret);
int MXCreateCachedOp(void *symbol, void **ret);
int NNSymbolCopy(void *symbol, void **ret);
int allocate(void);
void *get(void) SYMBOL("_ZN5mxnet7Storage3GetEv");

int MXGetVersion(int *ret)
{
    *ret = VERSION;
    return 0;
}

int MXCreateCachedOp(void *symbol, void **ret)
{
    *ret = symbol;
    return 0;
}

/* The recorder copies symbols only if it knows MXNet. */
int NNSymbolCopy(void *symbol, void **ret)
{
    (void)symbol, (void)ret;
    abort();
}

static int asked;

static void ask(void)
{
    asked++;
}

#ifdef HAS_STORAGE
#define FUNCTION(name, symbol)                                                                     \
    void name(void) SYMBOL(symbol);                                                                \
    void name(void)                                                                                \
    {                                                                                              \
    }

FUNCTION(save, "_ZN5mxnet7NDArray4SaveEPN4dmlc6StreamERKSt6vectorIS0_SaIS0_EERKS4_ISsSaISsEE")
FUNCTION(alloc, "_ZN5mxnet11StorageImpl5AllocEPNS_7Storage6HandleE")
FUNCTION(give_back, "_ZN5mxnet11StorageImpl4FreeENS_7Storage6HandleE")
FUNCTION(direct_free, "_ZN5mxnet11StorageImpl10DirectFreeENS_7Storage6HandleE")
FUNCTION(execute,
         "_ZN5mxnet6engine14ThreadedEngine15ExecuteOprBlockENS_10RunContextEPNS0_8OprBlockE")
FUNCTION(
    push,
    "_ZN5mxnet6engine11NaiveEngine9PushAsyncESt8functionIFvNS_10RunContextENS0_"
    "18CallbackOnCompleteEEENS_7ContextERKSt6vectorIPNS0_3VarESaISA_EESE_NS_10FnPropertyEiPKcb")

extern void (*table[])(void) SYMBOL("_ZTVN5mxnet11StorageImplE");
void (*table[])(void) = {0, 0, ask, alloc, give_back, direct_free, ask};
#else
static void (*table[])(void) = {0, 0, ask, ask, ask, ask, ask};
#endif

static void (**storage)(void) = &table[2];

void *get(void)
{
    return &storage;
}

/* As MXNet allocates: by the first virtual function of its storage. */
int allocate(void)
{
    void (***object)(void) = get();

    (*object)[0]();
    return asked;
}
