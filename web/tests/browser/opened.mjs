/* Uses the page of a running `memledger view` without files: chooses a recent trace, drops files, and
 * follows a trace that grows.
 *
 *     node tests/browser/opened.mjs FOLDER
 *
 * FOLDER has address.html, which leads to the server as a link elsewhere does; recent.mled, growing.mled
 * (being recorded), other.mled, snapshot.pickle and wrong.txt. Prints "stop" when growing.mled has grown
 * and may end, and "replace" when it has ended and is to be replaced.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { startBrowser } from './browsers.mjs';

const [folder] = process.argv.slice(2);
const browser = await startBrowser();
const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
const problems = [];

page.on('pageerror', (error) => problems.push(String(error)));

async function goToList() {
  await page.goto(page.url().split('#')[0]);
  await page.getByText('Recent recordings').waitFor();
}

async function drop(name) {
  const bytes = [...readFileSync(join(folder, name))];
  const transfer = await page.evaluateHandle(([content, file]) => {
    const data = new DataTransfer();
    data.items.add(new File([new Uint8Array(content)], file));
    return data;
  }, [bytes, name]);
  await page.dispatchEvent('body', 'drop', { dataTransfer: transfer });
}

try {
  await page.goto(String(pathToFileURL(join(folder, 'address.html'))));
  await page.getByText('Recent recordings').waitFor();
  assert.ok(!page.url().includes('token'));

  await page.getByRole('button', { name: 'recent.mled' }).click();
  await page.getByText('live in').first().waitFor();
  assert.match(await page.title(), /^recent\.mled/);

  await drop('snapshot.pickle');
  await page.getByText('Imported from torch-snapshot').waitFor();
  assert.match(await page.title(), /^snapshot\.pickle/);
  await drop('wrong.txt');
  await page.getByText('not recognised as one of the formats').waitFor();

  await goToList();
  await page.getByLabel('Open a file').setInputFiles(join(folder, 'other.mled'));
  await page.waitForFunction(() => document.title.startsWith('other.mled'));

  await goToList();
  await page.getByRole('button', { name: 'growing.mled' }).click();
  await page.locator('#recording').getByText('recording').waitFor();
  const end = () => page.evaluate(async () => (await (await fetch(`api/plot?${location.hash.slice(1)}&width=300`)).json()).end_ns);
  const shown = () => page.locator('.heading').first().textContent();
  await page.getByText('live in').first().waitFor();
  const early = await end();
  const heading = await shown();
  await page.waitForFunction((old) => document.querySelector('.heading').textContent !== old, heading, { timeout: 60000 });
  console.log('stop');
  await page.waitForFunction(() => document.getElementById('recording').textContent === '', null, { timeout: 60000 });
  assert.ok((await end()) > early);
  console.log('replace');
  await page.getByText('The file has changed').waitFor({ timeout: 60000 });
  assert.deepEqual(problems, []);
} finally {
  await browser.close();
}
