/* Starts the browser that the tests use: BROWSER is chromium (default) or firefox, those of the
 * distribution. CHROMIUM and FIREFOX are their paths.
 *
 * Firefox is driven through WebDriver BiDi, which it speaks without changes of Playwright's own. Not all
 * of Playwright works with it: the version in package.json is the last that does.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { chromium, firefox } from 'playwright-core';

export const isFirefox = process.env.BROWSER === 'firefox';

/* Nothing listens there. */
const noNetwork = { server: 'http://127.0.0.1:9' };

/* Root cannot use Chromium's sandbox.
 * @options  offline: no request leaves the browser */
export function startBrowser({ offline = false } = {}) {
  const proxy = offline ? { proxy: noNetwork } : {};

  if (isFirefox) return firefox.launch({ channel: 'moz-firefox', executablePath: process.env.FIREFOX ?? '/usr/bin/firefox-esr', ...proxy });
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args, ...proxy });
}

/* Chromium can be cut off for each context, too. */
export function offlineContext(browser, options = {}) {
  return browser.newContext({ ...(isFirefox ? {} : { offline: true }), ...options });
}
