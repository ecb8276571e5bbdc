/* Traces that are hostile, damaged or empty.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import assert from 'node:assert/strict';
import { files, json, show } from './viewer.mjs';

const [hostile, damaged, empty] = [2, 3, 4]; // numbers of the files
const everyView = [
  'by=module', 'panel=table&keys=label,scope,thread', 'panel=icicle', 'panel=ledger', 'panel=difference&base=end',
  'view=blocks', 'view=blocks&layout=address', 'view=blocks&layout=segments', 'view=stacks', 'view=processes',
  'view=summary', 'view=steps', 'view=leaks', 'view=oom', 'view=compare',
];

export const spoiltChecks = {
  async 'markup in names is text'(page) {
    for (const fragment of everyView) {
      await show(page, `file=${hostile}&${fragment}`);
      await page.locator('main').locator('.panel, .view, .notice').first().waitFor();
      assert.equal(await page.evaluate(() => window.hit), undefined, fragment);
      assert.equal(await page.locator('main img, main script, header img').count(), 0, fragment);
    }
    await show(page, `file=${hostile}&panel=table&keys=label`);
    const { label } = json('table', '--by=label', files[hostile]).groups.find((group) => group.label !== null);
    assert.ok(label.startsWith('<img'));
    await page.getByText(label, { exact: true }).first().waitFor();
  },

  async 'a damaged trace says so, and the page skips the damage when asked'(page) {
    await show(page, `file=${damaged}`);
    await page.getByText(/is damaged/).first().waitFor();
    await page.getByRole('button', { name: 'Skip damaged blocks' }).click();
    await page.getByText(/damaged blocks? (was|were) skipped/).waitFor();
    const { bytes } = json('tree', '--salvage', '--min=0', files[damaged]);
    await page.locator(`.heading strong[title="${bytes.toLocaleString('en')} bytes"]`).waitFor();
    const width = /--width=(\d+)/.exec(await page.locator('.timeline .toolbar code').first().textContent())?.[1];
    assert.ok(Number(width) > 600, `the timeline has as many columns as fit, not ${width}`);
  },

  async 'an empty trace has a sentence in each view'(page) {
    for (const fragment of everyView) {
      await show(page, `file=${empty}&${fragment}`);
      await page.locator('main').locator('.notice, .view').first().waitFor();
    }
  },
};
