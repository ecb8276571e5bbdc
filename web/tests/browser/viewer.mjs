/* Starts the real `memledger view`, and opens the address that it prints.
 *
 * MEMLEDGER is the command, MEMLEDGER_FILES the traces, separated by colons.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

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

const traffic = new WeakMap();
const patienceMs = 120000;
const quietMs = 250; // longer than any pause after which the page asks for more (web/src: *DelayMs)

/* Notes the requests of a page that are under way, and counts those that began. */
function watchRequests(page) {
  const requests = { open: new Set(), begun: 0 };
  const end = (request) => requests.open.delete(request);

  page.on('request', (request) => {
    requests.open.add(request);
    requests.begun++;
  });
  page.on('requestfinished', end);
  page.on('requestfailed', end);
  traffic.set(page, requests);
}

/* Waits until the page has nothing left to ask for. The pause is measured by the page's own clock, behind all
 * timers that it has set: on a busy machine it lasts longer. */
export async function settled(page) {
  const requests = traffic.get(page);
  const giveUpMs = Date.now() + patienceMs;

  for (let begun = -1; requests.open.size > 0 || requests.begun !== begun;) {
    if (Date.now() > giveUpMs) throw new Error(`no answer to ${[...requests.open].map((request) => request.url())}`);
    begun = requests.begun;
    await page.evaluate((pauseMs) => new Promise((done) => setTimeout(() => requestAnimationFrame(() => setTimeout(done)), pauseMs)), quietMs);
  }
}

/* A new tab with a profile of its own. One request exchanges the token in the address for a cookie. */
export async function openPage(browser, address, options = {}) {
  const [place] = address.split('?');
  const context = await browser.newContext({ baseURL: place, viewport: { width: 1280, height: 720 }, ...options });
  const page = await context.newPage();
  const errors = [];

  await context.request.get(address, { maxRedirects: 0 });

  page.setDefaultTimeout(90000);
  watchRequests(page);
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().includes('status of 422')) errors.push(message.text());
  });
  return { page, errors, close: () => context.close() };
}

/* Changes the fragment, and returns when the page has heard of it and begun its requests. */
function changeFragment(fragment) {
  const before = location.hash;

  return new Promise((done) => {
    addEventListener('hashchange', () => setTimeout(done), { once: true });
    location.hash = fragment;
    if (location.hash === before) done();
  });
}

/* Shows the page in the state that the fragment describes. */
export async function show(page, fragment) {
  if (page.url() === 'about:blank') await page.goto(`./#${fragment}`);
  else await page.evaluate(changeFragment, fragment);
  await settled(page);
}
