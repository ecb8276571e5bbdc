/* Uses the page of the real `memledger view` in Chromium as a person would.
 *
 * The files of MEMLEDGER_FILES are, in this order: a training run with modules and steps, a second one,
 * a run whose names contain markup, a damaged trace, an empty one, the malloc of two processes with
 * stacks. Arguments choose checks by a part of their name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import assert from 'node:assert/strict';
import { blocksChecks } from './blocks.checks.mjs';
import { instantChecks } from './instant.checks.mjs';
import { spoiltChecks } from './spoilt.checks.mjs';
import { timelineChecks } from './timeline.checks.mjs';
import { openPage, startBrowser, startViewer } from './viewer.mjs';
import { viewChecks } from './views.checks.mjs';

const checks = { ...timelineChecks, ...instantChecks, ...blocksChecks, ...viewChecks, ...spoiltChecks };
const workers = 2; // each with a tab of its own
const wanted = process.argv.slice(2);
const chosen = Object.entries(checks).filter(([name]) => wanted.length === 0 || wanted.some((part) => name.includes(part)));

async function passes(browser, address, name, check) {
  const { page, errors, close } = await openPage(browser, address);
  const start = Date.now();

  try {
    await check(page);
    assert.deepEqual(errors, []);
    console.log(`ok      ${name} (${Date.now() - start} ms)`);
    return true;
  } catch (error) {
    console.log(`FAILED  ${name}\n${error.stack}\n${errors.join('\n')}`);
    return false;
  } finally {
    await close();
  }
}

const viewer = await startViewer();
const browser = await startBrowser();
const waiting = [...chosen];
let failed = 0;

async function work() {
  for (let next = waiting.shift(); next; next = waiting.shift())
    if (!(await passes(browser, viewer.address, ...next))) failed++;
}

await Promise.all(Array.from({ length: workers }, work));
await browser.close();
await viewer.stop();
console.log(`${chosen.length - failed} passed, ${failed} failed`);
process.exitCode = failed > 0 || chosen.length === 0 ? 1 : 0;
