/* no_page.c: takes the place of the page in a build without npm.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "assets.h"

const struct ml_page_file ml_page_file = {0};
