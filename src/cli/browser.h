/* browser.h: opens an address in the user's browser.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_BROWSER_H
#define ML_CLI_BROWSER_H

#include "private_folder.h"

/* The address has a token, and the arguments of a process are visible to all users of the machine:
 * the browser gets the name of a file that leads to it, which only this user can read. Failures are
 * ignored: the address is printed in any case. */
void ml_browser_open(struct ml_private_folder *folder, const char *address);

#endif
