/* The other views.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import assert from 'node:assert/strict';
import { files, json, settled, show } from './viewer.mjs';

const exact = (bytes) => `${bytes.toLocaleString('en')} bytes`;

export const viewChecks = {
  async 'a step leads to its peak, and the back button returns'(page) {
    const { steps } = json('steps', files[0]);

    await show(page, 'view=steps');
    await page.locator('tbody td button').nth(1).click();
    await page.locator(`.heading strong[title="${exact(steps[1].peak_bytes)}"]`).waitFor();
    assert.match(new URL(page.url()).hash, /at=step%3A/);
    await page.goBack();
    await page.locator('caption', { hasText: 'By step' }).waitFor();
  },

  async 'the summary has the numbers of the command'(page) {
    const summary = json('summary', files[0]);

    await show(page, 'view=summary');
    await page.locator(`.facts dd[title="${exact(summary.peak_bytes)}"]`).waitFor();
    const shares = page.locator('table').first().locator('tbody tr td:nth-child(2)');
    const shown = await shares.evaluateAll((cells) => cells.map((cell) => cell.getAttribute('title')));
    assert.deepEqual(shown, summary.by_category.map(({ at_peak_bytes: bytes }) => exact(bytes)));
  },

  async 'two runs are compared'(page) {
    const compared = json('compare', '--at=peak', '--by=module,category', '--top=1000', files[0], files[1]);

    await show(page, 'view=compare');
    const runs = page.locator('table').first().locator('tbody tr');
    await runs.first().waitFor();
    assert.equal(await runs.count(), compared.runs.length);
    for (const [i, run] of compared.runs.entries())
      assert.equal(await runs.nth(i).locator('td').nth(1).getAttribute('title'), exact(run.peak_bytes));
    assert.equal(await page.locator('table').nth(1).locator('tbody tr').count(), Math.min(compared.view.entries.length, 500));
  },

  async 'dark is a switch, and the browser remembers it'(page) {
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);

    await show(page, '');
    const light = await paper();
    await page.locator('[name=Theme]').selectOption('dark');
    assert.notEqual(await paper(), light);
    await page.reload();
    await settled(page);
    assert.notEqual(await paper(), light);
  },
};
