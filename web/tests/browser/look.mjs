/* Opens the built page in Chromium, takes a picture of each view, and fails on any error of the page.
 *
 * `npm run build` first. MEMLEDGER and MEMLEDGER_FILES are those of dev/command-api.ts; the pictures go
 * to screenshots/. Arguments select pictures by a part of their name; LOOK has fragments of addresses for
 * more of them, separated by spaces.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { mkdirSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { preview } from 'vite';

const [small, large] = [{ width: 1280, height: 720 }, { width: 3840, height: 2160 }];

/* Name, fragment of the address, and what to do before the picture. */
const pictures = [
  ['timeline', ''],
  ['timeline-dark', '', { dark: true }],
  ['timeline-4k', '', { viewport: large }],
  ['modules', 'by=module&panel=icicle'],
  ['icicle-dark', 'panel=icicle', { dark: true }],
  ['table', 'panel=table&keys=label,category&search=weight'],
  ['clicked', '', { act: (page) => page.mouse.click(500, 250) }],
  ['zoomed', '', { act: drag }],
  ['difference', 'panel=difference&at=peak&base=end'],
  ['keys', '', { act: (page) => page.locator('.keys-help summary').click() }],
  ['hover', '', { act: (page) => page.mouse.move(600, 250) }],
  ['summary', 'view=summary'],
  ['steps', 'view=steps'],
  ['steps-dark', 'view=steps', { dark: true }],
  ['leaks', 'view=leaks'],
  ['oom', 'view=oom'],
  ['compare', 'view=compare'],
  ['compare-steps', 'view=compare&each=step'],
  ['compare-dark', 'view=compare', { dark: true }],
];

async function drag(page) {
  await page.mouse.move(400, 250);
  await page.mouse.down();
  await page.mouse.move(600, 250, { steps: 5 });
  await page.mouse.up();
}

async function take(browser, address, [name, fragment, { dark = false, viewport = small, act } = {}], errors) {
  const page = await browser.newPage({ viewport, colorScheme: dark ? 'dark' : 'light' });

  page.on('pageerror', (error) => errors.push(`${name}: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().includes('422')) errors.push(`${name}: ${message.text()}`);
  });
  await page.goto(`${address}#${fragment}`);
  await page.waitForLoadState('networkidle');
  await page.waitForTimeout(400);
  if (act) {
    await act(page);
    await page.waitForTimeout(400);
    await page.waitForLoadState('networkidle');
    await page.waitForTimeout(600);
  }
  await page.screenshot({ path: `screenshots/${name}.png` });
  await page.close();
}

const wanted = process.argv.slice(2);
const extra = (process.env.LOOK ?? '').split(' ').filter(Boolean).map((hash, i) => [`extra-${i}`, hash]);
const chosen = [...pictures, ...extra].filter(([name]) => wanted.length === 0 || wanted.some((w) => name.includes(w)));
const server = await preview({ preview: { port: 0, host: '127.0.0.1' } });
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
const errors = [];

mkdirSync('screenshots', { recursive: true });
for (const picture of chosen) await take(browser, server.resolvedUrls.local[0], picture, errors);
await browser.close();
await new Promise((done) => server.httpServer.close(done));
for (const error of errors) console.error(error);
process.exit(errors.length > 0 ? 1 : 0);
