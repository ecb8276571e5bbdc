/* Starts the page.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { App } from './app/app';
import { Store } from './state/store';
import { startTheme } from './theme/theme';

startTheme();
void new App(new Store()).start();
