/* view_browser.mjs: how quickly a browser shows a trace, and what that takes.
 *
 *     node view_browser.mjs view MEMLEDGER TRACE QUESTIONS
 *     node view_browser.mjs page FILE.html KIND QUESTIONS      KIND: memory_viz, memray
 *
 * PAGE is the folder with the packages of the page, CHROMIUM the browser. Prints one JSON object; times in
 * ms, each until the next frame is painted. Of a page of another tool: until its picture has content, at
 * most LIMIT_S seconds (60), and zooms with the wheel (memory_viz) or clicks on frames (memray), at most ACTS_S
 * seconds (8). A page that takes longer has "failed", even if it no longer answers; one that hangs later has no
 * figures of memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const { chromium } = createRequire(`${process.env.PAGE}/package.json`)('playwright-core');
const limitMs = 1000 * Number(process.env.LIMIT_S ?? 60);
const actsMs = 1000 * Number(process.env.ACTS_S ?? 8);
const [mode, ...words] = process.argv.slice(2);

/* The same numbers in each run. */
function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function statusKib(pid, field) {
  const line = readFileSync(`/proc/${pid}/status`, 'utf8').split('\n').find((text) => text.startsWith(`${field}:`));
  return Number(line?.split(/\s+/)[1] ?? 0);
}

async function startBrowser() {
  const args = [...(process.getuid?.() === 0 ? ['--no-sandbox'] : []), '--js-flags=--max-old-space-size=8000'];
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args });
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
  page.setDefaultTimeout(limitMs);
  return { browser, page };
}

/* The JavaScript heap after a collection, and the largest renderer. */
async function memory(browser, page) {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('HeapProfiler.collectGarbage');
  await cdp.send('Performance.enable');
  const { metrics } = await cdp.send('Performance.getMetrics');
  const heap = metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? 0;
  const processes = await (await browser.newBrowserCDPSession()).send('SystemInfo.getProcessInfo');
  const renderers = processes.processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => statusKib(id, 'VmHWM'));
  return { heap_mib: heap / 2 ** 20, renderer_mib: Math.max(0, ...renderers) / 1024 };
}

/* Runs in the page: changes the address, and waits until the text of an element says that it is shown. */
function changeAndWait([fragment, selector, text]) {
  return new Promise((resolve) => {
    const start = performance.now();
    const look = () => {
      if (!document.querySelector(selector)?.textContent.includes(text)) return requestAnimationFrame(look);
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - start)));
    };
    location.hash = fragment;
    requestAnimationFrame(look);
  });
}

async function measureZooms(page, endNs, count) {
  const random = randomNumbers(1);
  const times = [];

  for (let i = 0; i < count; i++) {
    const length = Math.max(Math.floor(endNs * 10 ** (-6 * random())), 1000);
    const from = Math.floor(random() * Math.max(endNs - length, 1));
    times.push(await page.evaluate(changeAndWait, [`from=${from}&to=${from + length}`, '.timeline .toolbar code', `--from=${from}ns --to=${from + length}ns`]));
    await page.waitForTimeout(130); // a person pauses; the page keeps questions apart
  }
  return times;
}

async function measureInstants(page, endNs, count) {
  const random = randomNumbers(2);
  const times = [];

  for (let i = 0; i < count; i++) {
    const at = Math.floor(random() * endNs);
    times.push(await page.evaluate(changeAndWait, [`at=${at}ns`, '#instant-panel .toolbar code', `--at=${at}ns`]));
  }
  return times;
}

async function view([memledger, trace, questions]) {
  const { browser, page } = await startBrowser();
  await page.goto('about:blank');
  const start = performance.now();
  const server = spawn(memledger, ['view', '--no-open', trace], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [address] = await once(createInterface({ input: server.stdout }), 'line');

  await page.goto(address, { waitUntil: 'commit' });
  await page.waitForFunction(() => document.querySelector('.chart canvas') && document.querySelector('.legend li .number'), null, { polling: 'raf' });
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
  const firstMs = performance.now() - start;
  await page.locator('#instant-panel .toolbar code').waitFor();
  const settledMs = performance.now() - start;
  const { end_ns: endNs } = await page.evaluate(async () => (await fetch('api/plot?file=0&width=300')).json());
  const zooms = await measureZooms(page, endNs, Number(questions));
  await page.evaluate(() => void (location.hash = ''));
  const instants = await measureInstants(page, endNs, Number(questions));
  const result = { first_ms: firstMs, settled_ms: settledMs, zooms, instants, server_mib: statusKib(server.pid, 'VmHWM') / 1024, ...(await memory(browser, page)) };

  await browser.close();
  server.kill('SIGINT');
  await once(server, 'exit');
  return result;
}

/* What is there once the picture has content, and what a person does in it. */
const kinds = {
  memory_viz: { content: 'svg path, svg polygon', act: (page, x, y) => page.mouse.move(x, y).then(() => page.mouse.wheel(0, -120)) },
  memray: { content: '#chart g, .d3-flame-graph g', act: (page, x, y) => page.mouse.click(x, y) },
};

/* @result  null: a page that hangs answers nothing, not even that it is late */
async function atMost(ms, result) {
  let timer;
  const late = new Promise((done) => void (timer = setTimeout(done, ms, null)));

  return Promise.race([result, late]).finally(() => clearTimeout(timer));
}

async function measureActs(page, act, count) {
  const random = randomNumbers(3);
  const times = [];
  const end = performance.now() + actsMs;

  for (let i = 0; i < count && performance.now() < end; i++) {
    const start = performance.now();
    await act(page, 200 + 800 * random(), 150 + 300 * random());
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
    times.push(performance.now() - start);
  }
  return times;
}

async function otherPage([file, kind, questions]) {
  const { content, act } = kinds[kind];
  const { browser, page } = await startBrowser();
  const late = { failed: `no picture within ${limitMs / 1000} s` };

  try {
    const firstMs = await atMost(limitMs, paint(page, file, content));
    if (firstMs === null) return late;
    const zooms = await atMost(2 * actsMs, measureActs(page, act, Number(questions)));
    const took = zooms === null ? null : await atMost(actsMs, memory(browser, page));
    return { first_ms: firstMs, zooms: zooms ?? [], ...took };
  } catch (error) {
    return error.name === 'TimeoutError' ? late : { failed: String(error.message).split('\n')[0] };
  } finally {
    await atMost(10000, browser.close());
  }
}

/* @return how long the first picture of a file took, in ms */
async function paint(page, file, content) {
  const start = performance.now();

  await page.goto(String(pathToFileURL(file)), { waitUntil: 'commit' });
  await page.locator(content).first().waitFor({ state: 'attached' });
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
  return performance.now() - start;
}

console.log(JSON.stringify(mode === 'view' ? await view(words) : await otherPage(words)));
process.exit(); // questions to a page that hangs are still open
