/* Opens an exported page from its file, without any network, and looks at each view.
 *
 *     node tests/browser/exported.mjs PAGE.html [WORDS]
 *
 * WORDS must appear on the page as text. SCREENSHOT is a picture to make.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { offlineContext, startBrowser } from './browsers.mjs';

const [file, words] = process.argv.slice(2);
const browser = await startBrowser({ offline: true });
const context = await offlineContext(browser, { viewport: { width: 1280, height: 720 } });
const page = await context.newPage();
const problems = [];
const requests = [];

page.on('pageerror', (error) => problems.push(String(error)));
page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
page.on('request', (request) => requests.push(request.url()));

async function open(fragment) {
  await page.goto('about:blank');
  await page.goto(`${pathToFileURL(resolve(file))}#${fragment}`);
}

/* Somewhere in the picture there is a block; its facts come from the picture. */
async function clickBlock() {
  await open('view=blocks');
  await page.locator('.legend-line span').first().waitFor();
  const { x, y, width, height } = await page.locator('canvas.blocks').boundingBox();
  for (const [across, down] of [[0.5, 0.85], [0.8, 0.85], [0.3, 0.7], [0.95, 0.9]]) {
    await page.mouse.click(x + across * width, y + down * height);
    if (page.url().includes('block=')) break;
  }
  assert.match(await page.locator('.block-facts').textContent(), /bytes/);
}

try {
  await open('');
  await page.getByText('live in').first().waitFor();
  await page.getByText('An excerpt: what this file leaves out').click();
  await page.getByText('It leaves out all other moments').waitFor();
  const total = await page.locator('[role=treegrid] tbody tr').first().locator('td.number').first().getAttribute('title');
  assert.match(total, /bytes/);

  await page.locator('.chart').click({ position: { x: 400, y: 120 } }); // a moment between those that the page contains
  await page.waitForFunction(() => /at=\d+ns/.test(location.hash));
  await page.getByText('live in').first().waitFor();

  for (const panel of ['table', 'icicle', 'ledger', 'difference&base=end']) {
    await open(`panel=${panel}`);
    await page.locator('#instant-panel :is(.panel, .notice):not(.quiet)').first().waitFor();
    assert.equal(await page.getByText('does not contain that answer').count(), 0, panel);
  }
  for (const by of ['module', 'device', 'process']) {
    await open(`by=${by}`);
    await page.locator('.chart canvas').first().waitFor();
  }
  for (const view of ['summary', 'steps', 'leaks', 'stacks', 'processes', 'blocks', 'blocks&layout=address', 'blocks&layout=segments']) {
    await open(`view=${view}`);
    await page.locator('main :is(.toolbar, .notice):not(.quiet)').first().waitFor();
    assert.equal(await page.getByText('does not contain that answer').count(), 0, view);
  }
  await clickBlock();
  await open('view=summary');
  await page.locator('main table').first().waitFor();
  if (words) {
    await open('panel=table');
    await page.locator('#instant-panel').getByText(words).first().waitFor();
    assert.equal(await page.evaluate(() => window.hit), undefined);
  }
  assert.deepEqual(problems, []);
  assert.deepEqual(requests.filter((url) => !/^(file|data|blob|about):/.test(url)), []);
  if (process.env.SCREENSHOT) {
    await open('');
    await page.getByText('live in').first().waitFor();
    await page.screenshot({ path: process.env.SCREENSHOT });
  }
} finally {
  await browser.close();
}
