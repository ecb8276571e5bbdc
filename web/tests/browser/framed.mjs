/* Opens a document with an exported page in a frame that has no rights, as a notebook shows it.
 *
 *     node tests/browser/framed.mjs DOCUMENT.html
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { offlineContext, startBrowser } from './browsers.mjs';

const browser = await startBrowser({ offline: true });
const context = await offlineContext(browser, { viewport: { width: 1280, height: 900 } });
const page = await context.newPage();
const problems = [];

page.on('pageerror', (error) => problems.push(String(error)));

try {
  await page.goto(String(pathToFileURL(resolve(process.argv[2]))));
  const frame = page.frameLocator('iframe');
  await frame.getByText('live in').first().waitFor();
  await frame.getByRole('tab', { name: 'Summary' }).click();
  await frame.getByText('At the peak, by category').waitFor();
  assert.deepEqual(problems, []);
} finally {
  await browser.close();
}
