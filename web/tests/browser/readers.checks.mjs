/* Screen readers and contrast: the rules of axe (WCAG 2 A and AA) find nothing in any view, light or dark.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { show } from './viewer.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const heap = 5; // the file with stacks
const everyView = [
  '', 'panel=table', 'panel=icicle', 'panel=ledger', 'panel=difference&base=end', 'by=process', 'view=blocks', 'view=blocks&layout=address',
  `file=${heap}&view=stacks`, 'view=summary', 'view=processes', 'view=steps', 'view=leaks', 'view=oom', 'view=compare', 'view=compare&each=step',
];

/* "color-contrast: .legend-title (Element has insufficient …)" */
async function faults(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa'] }));
  return violations.flatMap(({ id, nodes }) => nodes.slice(0, 3).map(({ target, failureSummary }) => `${id}: ${target.join(' ')} (${failureSummary.replaceAll('\n', ' ')})`));
}

async function look(page, theme) {
  const found = [];

  await show(page, '');
  await page.locator('[name=Theme]').selectOption(theme);
  for (const fragment of everyView) {
    await show(page, fragment);
    await page.locator('main').locator('.panel, .view, .notice').first().waitFor();
    for (const fault of await faults(page)) found.push(`${fragment || 'timeline'}, ${theme}: ${fault}`);
  }
  assert.deepEqual(found, []);
}

export const readerChecks = {
  'axe finds no fault in light views': (page) => look(page, 'light'),
  'axe finds no fault in dark views': (page) => look(page, 'dark'),
};
