/* Starts the real `memledger view`, and Chromium on the address that it prints.
 *
 * MEMLEDGER is the command, MEMLEDGER_FILES the traces, separated by colons. CHROMIUM is the browser,
 * /usr/bin/chromium by default.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';

export const command = process.env.MEMLEDGER ?? '../build/src/cli/memledger';
export const files = (process.env.MEMLEDGER_FILES ?? '').split(':').filter((path) => path !== '');

/* What the command prints with --json. */
export function json(...words) {
  const limit = { encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'pipe'] };
  return JSON.parse(execFileSync(command, [words[0], '--json', ...words.slice(1)], limit));
}

/* @return its address, and a function that ends it */
export async function startViewer() {
  const viewer = spawn(command, ['view', '--no-open', ...files], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface({ input: viewer.stdout });
  const [address] = await Promise.race([once(lines, 'line'), once(viewer, 'exit').then(() => [null])]);

  if (address === null) throw new Error('memledger view ended before it printed an address');
  return {
    address,
    async stop() {
      viewer.kill('SIGINT');
      if (viewer.exitCode === null) await once(viewer, 'exit');
    },
  };
}

/* Root cannot use Chromium's sandbox. */
export function startBrowser() {
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
  return chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] });
}

const traffic = new WeakMap();
const quietMs = 160; // longer than the page waits before it asks for details

/* Counts the requests of a page that are under way, and notes when the last one ended. */
function watchRequests(page) {
  const requests = { open: 0, lastMs: Date.now() };
  const change = (by) => () => {
    requests.open += by;
    requests.lastMs = Date.now();
  };

  page.on('request', change(1));
  page.on('requestfinished', change(-1));
  page.on('requestfailed', change(-1));
  traffic.set(page, requests);
}

/* Waits until the page has asked for nothing for a moment. */
export async function settled(page) {
  const requests = traffic.get(page);

  while (requests.open > 0 || Date.now() - requests.lastMs < quietMs) await page.waitForTimeout(20);
}

/* A new tab with a profile of its own. One request exchanges the token in the address for a cookie. */
export async function openPage(browser, address, options = {}) {
  const { origin } = new URL(address);
  const context = await browser.newContext({ baseURL: origin, viewport: { width: 1280, height: 720 }, ...options });
  const page = await context.newPage();
  const errors = [];

  await context.request.get(address, { maxRedirects: 0 });

  page.setDefaultTimeout(30000);
  watchRequests(page);
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().includes('status of 422')) errors.push(message.text());
  });
  return { page, errors, close: () => context.close() };
}

/* Shows the page in the state that the fragment describes. */
export async function show(page, fragment) {
  if (page.url() === 'about:blank') await page.goto(`/#${fragment}`);
  else await page.evaluate((hash) => void (location.hash = hash), fragment);
  await settled(page);
}
