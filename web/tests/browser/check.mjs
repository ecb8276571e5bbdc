/* Uses the page of the real `memledger view` in a browser as a person would.
 *
 * The files of MEMLEDGER_FILES are, in this order: a training run with modules and steps, a second one,
 * a run whose names contain markup, a damaged trace, an empty one, the malloc of two processes with
 * stacks. Arguments choose checks by a part of their name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import assert from 'node:assert/strict';
import { blocksChecks } from './blocks.checks.mjs';
import { isFirefox, startBrowser } from './browsers.mjs';
import { instantChecks } from './instant.checks.mjs';
import { readerChecks } from './readers.checks.mjs';
import { spoiltChecks } from './spoilt.checks.mjs';
import { timelineChecks } from './timeline.checks.mjs';
import { openPage, startViewer } from './viewer.mjs';
import { viewChecks } from './views.checks.mjs';

const checks = { ...timelineChecks, ...instantChecks, ...blocksChecks, ...viewChecks, ...spoiltChecks, ...readerChecks };
const workers = isFirefox ? 1 : 2; // each with a tab of its own; in Firefox only one tab at a time gets keys
const wanted = process.argv.slice(2);
const known = Object.entries(checks).filter(([name]) => !isFirefox || !name.includes('saved')); // Playwright sees no downloads of Firefox
const chosen = known.filter(([name]) => wanted.length === 0 || wanted.some((part) => name.includes(part)));

/* @return null, or the error */
async function failure(browser, address, name, check) {
  const { page, errors, close } = await openPage(browser, address);
  const start = Date.now();

  try {
    await check(page);
    assert.deepEqual(errors, []);
    console.log(`ok      ${name} (${Date.now() - start} ms)`);
    return null;
  } catch (error) {
    console.log(`FAILED  ${name} (${Date.now() - start} ms)\n${error.stack}\n${errors.join('\n')}`);
    console.log(`        at ${page.url()}`);
    return error;
  } finally {
    await close();
  }
}

const viewer = await startViewer();
const browser = await startBrowser();
const waiting = [...chosen];
const slow = []; // what a busy browser did not do in time is tried again alone; a wrong number is not
const failed = [];

async function work() {
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const error = await failure(browser, viewer.address, ...next);
    if (error) (error.name === 'TimeoutError' ? slow : failed).push(next);
  }
}

await Promise.all(Array.from({ length: workers }, work));
for (const next of slow) {
  console.log(`again   ${next[0]}`);
  if (await failure(browser, viewer.address, ...next)) failed.push(next);
}
await browser.close();
await viewer.stop();
for (const [name] of failed) console.log(`failed: ${name}`);
console.log(`${chosen.length - failed.length} passed, ${failed.length} failed`);
process.exitCode = failed.length > 0 || chosen.length === 0 ? 1 : 0;
