/* readable_name.h: the names of C++ and Rust functions as their authors wrote them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_READABLE_NAME_H
#define ML_READABLE_NAME_H

/* @return a new string; NULL: the name is readable as it is, or this build cannot read it */
char *ml_readable_name(const char *symbol);

#endif
