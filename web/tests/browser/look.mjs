/* Takes a picture of each view of the page, and fails on any error of the page.
 *
 * MEMLEDGER and MEMLEDGER_FILES are those of viewer.mjs; the pictures go to the folder SCREENSHOTS, by
 * default screenshots/. Arguments select pictures by a part of their name; LOOK has fragments of
 * addresses for more of them, separated by spaces; with DARK=1 all are dark.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { mkdirSync } from 'node:fs';
import { startBrowser } from './browsers.mjs';
import { openPage, settled, show, startViewer } from './viewer.mjs';

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
  ['blocks', 'view=blocks'],
  ['blocks-dark', 'view=blocks', { dark: true }],
  ['blocks-4k', 'view=blocks', { viewport: large }],
  ['blocks-chosen', 'view=blocks', { act: (page) => page.mouse.click(640, 420) }],
  ['addresses', 'view=blocks&layout=address'],
  ['segments', 'view=blocks&layout=segments'],
  ['stacks', 'view=stacks'],
  ['stacks-dark', 'view=stacks&sum=end', { dark: true }],
  ['processes', 'view=processes'],
  ['summary', 'view=summary'],
  ['steps', 'view=steps'],
  ['steps-dark', 'view=steps', { dark: true }],
  ['leaks', 'view=leaks'],
  ['oom', 'view=oom'],
  ['compare', 'view=compare'],
  ['compare-steps', 'view=compare&each=step'],
  ['compare-dark', 'view=compare', { dark: true }],
  ['ledger', 'panel=ledger'],
  ['events', 'panel=events'],
  ['ranks', 'view=ranks'],
  ['ranks-dark', 'view=ranks', { dark: true }],
];

async function drag(page) {
  await page.mouse.move(400, 250);
  await page.mouse.down();
  await page.mouse.move(600, 250, { steps: 5 });
  await page.mouse.up();
}

async function take(browser, address, [name, fragment, { dark = false, viewport = small, act } = {}]) {
  const { page, errors, close } = await openPage(browser, address, { viewport, colorScheme: dark || process.env.DARK === '1' ? 'dark' : 'light' });

  await show(page, fragment);
  if (act) {
    await act(page);
    await settled(page);
  }
  await page.waitForTimeout(100); // drawings follow the answers
  await page.screenshot({ path: `${folder}/${name}.png` });
  await close();
  return errors.map((error) => `${name}: ${error}`);
}

const folder = process.env.SCREENSHOTS ?? 'screenshots';
const wanted = process.argv.slice(2);
const extra = (process.env.LOOK ?? '').split(' ').filter(Boolean).map((hash, i) => [`extra-${i}`, hash]);
const chosen = [...pictures, ...extra].filter(([name]) => wanted.length === 0 || wanted.some((w) => name.includes(w)));
const viewer = await startViewer();
const browser = await startBrowser();
const errors = [];

mkdirSync(folder, { recursive: true });
for (const picture of chosen) errors.push(...(await take(browser, viewer.address, picture)));
await browser.close();
await viewer.stop();
for (const error of errors) console.error(error);
process.exitCode = errors.length > 0 ? 1 : 0;
