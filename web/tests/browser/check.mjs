/* Uses the built page in Chromium as a person would, and compares its numbers with the commands'.
 *
 * `npm run build` first. MEMLEDGER and MEMLEDGER_FILES are those of dev/command-api.ts; the first file
 * must be a training run with modules and steps, and there must be a second one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';
import { preview } from 'vite';

const hostile = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>';

async function open(page, address, fragment) {
  await page.goto('about:blank');
  await page.goto(`${address}#${fragment}`);
  await page.waitForLoadState('networkidle');
}

async function json(page, path) {
  return page.evaluate(async (p) => (await fetch(p)).json(), path);
}

const chart = { x: 500, y: 260 }; // in the bands

const checks = {
  async 'the tree has the numbers of the command'(page, address) {
    await open(page, address, 'at=peak');
    const tree = await json(page, 'api/tree?file=0&at=peak&min=0');
    const totals = page.locator('[role=treegrid] tbody tr').first().locator('td.number').first();
    await totals.waitFor();
    assert.equal(await totals.getAttribute('title'), `${tree.bytes.toLocaleString('en')} bytes`);
    assert.equal(await page.locator('.toolbar code').last().textContent().then((t) => t.startsWith('memledger tree --at=peak')), true);
  },

  async 'the timeline is fitted to the steps, a drag zooms in, 0 goes back'(page, address) {
    const span = async () => (await page.locator('.toolbar code').first().textContent()).match(/--from=(\d+)ns --to=(\d+)ns/).slice(1).map(Number);
    await open(page, address, '');
    const { steps } = await json(page, 'api/steps?file=0');
    await page.waitForFunction(() => document.querySelector('.toolbar code')?.textContent.includes('--from'));
    const fitted = await span();
    assert.ok(fitted[0] <= steps[0].begin_ns && fitted[0] > steps[0].begin_ns / 2);
    await page.mouse.move(chart.x, chart.y);
    await page.mouse.down();
    await page.mouse.move(chart.x + 200, chart.y, { steps: 4 });
    await page.mouse.up();
    await page.waitForFunction((from) => !document.querySelector('.toolbar code').textContent.includes(`--from=${from}ns`), fitted[0]);
    const zoomed = await span();
    assert.ok(zoomed[1] - zoomed[0] < (fitted[1] - fitted[0]) / 2);
    await page.keyboard.press('0');
    await page.waitForFunction((from) => document.querySelector('.toolbar code').textContent.includes(`--from=${from}ns`), fitted[0]);
  },

  async 'a click chooses a moment, Shift-click another to compare with'(page, address) {
    await open(page, address, '');
    await page.mouse.click(chart.x, chart.y);
    await page.waitForFunction(() => /at=\d+ns/.test(location.hash));
    await page.keyboard.down('Shift');
    await page.mouse.click(chart.x + 100, chart.y);
    await page.keyboard.up('Shift');
    await page.locator('caption', { hasText: 'Change by' }).waitFor();
    assert.match(new URL(page.url()).hash, /base=\d+ns/);
  },

  async 'keys go to the peak, the end and the next step'(page, address) {
    await open(page, address, '');
    for (const [key, at] of [['e', /at=end/], ['p', /^#?$/], ['N', /at=step%3A\d+/]]) {
      await page.locator('.chart').focus();
      await page.keyboard.press(key);
      await page.waitForFunction((source) => new RegExp(source).test(location.hash), at.source);
      await page.waitForLoadState('networkidle');
    }
  },

  async 'a search finds a module in tree and table'(page, address) {
    await open(page, address, 'panel=table');
    await page.getByRole('searchbox').fill('no such module');
    await page.getByText('No name contains').waitFor();
    await page.getByRole('searchbox').fill('');
    await page.getByText('No name contains').waitFor({ state: 'detached' });
  },

  async 'the tree opens and closes with the arrow keys'(page, address) {
    await open(page, address, '');
    const rows = page.locator('[role=treegrid] tbody tr');
    await rows.first().focus();
    const before = await rows.count();
    await page.keyboard.press('ArrowLeft');
    await page.waitForFunction(() => document.querySelectorAll('[role=treegrid] tbody tr').length === 1);
    await page.keyboard.press('ArrowRight');
    await page.waitForFunction((count) => document.querySelectorAll('[role=treegrid] tbody tr').length === count, before);
    assert.equal(await rows.first().getAttribute('aria-expanded'), 'true');
  },

  async 'a key of the table is chosen without losing the focus'(page, address) {
    await open(page, address, 'panel=table');
    await page.locator('[name=key-device]').focus();
    await page.keyboard.press('Space');
    await page.locator('caption', { hasText: 'module, category, device' }).waitFor();
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute('name')), 'key-device');
  },

  async 'a step leads to its peak, and the back button returns'(page, address) {
    await open(page, address, 'view=steps');
    const { steps } = await json(page, 'api/steps?file=0');
    await page.locator('tbody td button').nth(1).click();
    await page.getByText('live in').waitFor();
    assert.match(new URL(page.url()).hash, /at=step%3A/);
    const strong = page.locator('.heading strong').first();
    assert.equal(await strong.getAttribute('title'), `${steps[1].peak_bytes.toLocaleString('en')} bytes`);
    await page.goBack();
    await page.locator('caption', { hasText: 'By step' }).waitFor();
  },

  async 'dark is a switch'(page, address) {
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    await open(page, address, '');
    const light = await paper();
    await page.locator('[name=Theme]').selectOption('dark');
    assert.notEqual(await paper(), light);
    await page.reload();
    await page.waitForLoadState('networkidle');
    assert.notEqual(await paper(), light);
  },

  async 'two runs are compared'(page, address) {
    await open(page, address, 'view=compare');
    const compared = await json(page, 'api/compare?file=0&file=1&at=peak&by=module,category&top=1000');
    const runs = page.locator('table').first().locator('tbody tr');
    await runs.first().waitFor();
    assert.equal(await runs.count(), compared.runs.length);
    const title = await runs.nth(1).locator('td').nth(1).getAttribute('title');
    assert.equal(title, `${compared.runs[1].peak_bytes.toLocaleString('en')} bytes`);
  },

  async 'names from a trace are text'(page, address) {
    await page.route('**/api/{tree,table,plot,steps,files}*', async (route) => {
      const response = await route.fetch();
      const spoilt = (await response.text()).replace(/("(?:module|name|class|label)": ?)"[^"]*"/g, (_, key) => key + JSON.stringify(hostile));
      await route.fulfill({ response, body: spoilt });
    });
    for (const fragment of ['by=module', 'by=module&panel=table', 'panel=icicle']) {
      await open(page, address, fragment);
      await page.locator('.panel').waitFor();
      assert.equal(await page.evaluate(() => window.hit), undefined);
      assert.equal(await page.locator('img').count(), 0);
    }
    assert.ok((await page.locator('header option').first().textContent()).includes('<img'));
  },

  async 'an error of the server is a sentence'(page, address) {
    await page.route('**/api/plot*', (route) => route.fulfill({ status: 422, body: '{"error":"memledger: x.mled: the block at byte 9 is damaged"}' }));
    await open(page, address, '');
    await page.getByText('x.mled: the block at byte 9 is damaged.').first().waitFor();
  },
};

const server = await preview({ preview: { port: 0, host: '127.0.0.1' } });
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
const wanted = process.argv.slice(2); // parts of names
const chosen = Object.entries(checks).filter(([name]) => wanted.length === 0 || wanted.some((part) => name.includes(part)));
let failed = 0;

for (const [name, check] of chosen) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
  const errors = [];

  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => message.text().includes('Content Security Policy') && errors.push(message.text()));
  page.setDefaultTimeout(20000);
  try {
    await check(page, server.resolvedUrls.local[0]);
    assert.deepEqual(errors, []);
    console.log(`ok      ${name}`);
  } catch (error) {
    failed++;
    console.log(`FAILED  ${name}\n${error.stack}`);
  }
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.close();
}
await browser.close();
await new Promise((done) => server.httpServer.close(done));
console.log(`${chosen.length - failed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);
