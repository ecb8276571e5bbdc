/* mxnet_entries.h: the functions of MXNet that have a hook by name. The linker scripts are
 * generated from this list too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MXNET_ENTRIES_H
#define ML_MXNET_ENTRIES_H

#define ML_MXNET_ENTRIES(ENTRY)                                                                    \
    ENTRY(get_engine, _ZN5mxnet6Engine3GetEv)                                                      \
    ENTRY(get_storage, _ZN5mxnet7Storage3GetEv)

#endif
