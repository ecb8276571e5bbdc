/* heap_notice.h: see heap_notice.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_HEAP_NOTICE_H
#define ML_HEAP_NOTICE_H

/* Says on stderr, if it is so, that the program's calls go to another malloc; once a run. */
void ml_heap_notice(void);

#endif
