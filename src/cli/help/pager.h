/* pager.h: long text, a screen at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_PAGER_H
#define ML_CLI_PAGER_H

#include "vec.h"

/* Shows the text: on a terminal with $MANPAGER, else $PAGER, else `less -R`; plainly without
 * a terminal or a pager.
 * @return an exit code; a failure is reported */
int ml_pager_show(const struct ml_buf *text);

#endif
