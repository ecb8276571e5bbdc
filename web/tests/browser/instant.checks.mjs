/* The chosen moment: tree, table, search.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import assert from 'node:assert/strict';
import { files, json, show } from './viewer.mjs';

const exact = (bytes) => `${bytes.toLocaleString('en')} bytes`;

async function titles(cells) {
  return cells.evaluateAll((list) => list.map((cell) => cell.getAttribute('title')));
}

export const instantChecks = {
  async 'the tree has the numbers of the command'(page) {
    const tree = json('tree', '--at=peak', '--min=0', files[0]);

    await show(page, 'at=peak');
    const rows = page.locator('[role=treegrid] tbody tr');
    await rows.nth(1).waitFor();
    const shown = await titles(rows.locator('td.number:nth-child(3)'));
    assert.equal(shown[0], exact(tree.bytes));
    const known = new Set(tree.rows.map(({ bytes }) => exact(bytes)));
    for (const bytes of shown.slice(1)) assert.ok(known.has(bytes), bytes);
    assert.match(await page.locator('.instant .toolbar code').textContent(), /^memledger tree --at=peak/);
  },

  async 'the table has the rows of the command'(page) {
    const table = json('table', '--by=label,category', '--top=1000', files[0]);

    await show(page, 'panel=table&keys=label,category');
    await page.locator('caption', { hasText: 'Memory by label, category' }).waitFor();
    const shown = await titles(page.locator('.instant tbody tr td:first-child'));
    assert.deepEqual(shown, table.groups.slice(0, 500).map(({ bytes }) => exact(bytes)));
  },

  async 'the ledger has the entries of the command'(page) {
    const { at_ns: peak } = json('tree', '--at=peak', files[5]);
    const { devices } = json('ledger', `--at=${peak}ns`, '--device=cpu', files[5]);

    await show(page, 'file=5&panel=ledger');
    await page.locator('caption', { hasText: `Ledger of ${devices[0].device}` }).waitFor();
    const shown = await titles(page.locator('table').first().locator('tbody tr td.number:nth-child(2)'));
    assert.equal(shown[0], exact(devices[0].entries[0].bytes));
  },

  async 'a search finds a layer in tree and table'(page) {
    const { rows } = json('tree', '--min=0', files[0]);
    const layer = rows.filter(({ module }) => module !== null).at(-1);

    await show(page, '');
    await page.getByRole('searchbox').fill(layer.module);
    await page.waitForFunction(() => location.hash.includes('search='));
    await page.locator(`td[title="${layer.module}"]`).waitFor();
    await page.getByRole('tab', { name: 'Table', exact: true }).click();
    await page.locator('caption', { hasText: 'Memory by module, category' }).waitFor();
    for (const text of await page.locator('.instant tbody tr').allTextContents()) assert.ok(text.includes(layer.module));
    await page.getByRole('searchbox').fill('no such module');
    await page.getByText('No name contains').waitFor();
  },

  async 'the tree opens and closes with the arrow keys'(page) {
    await show(page, '');
    const rows = page.locator('[role=treegrid] tbody tr');
    await rows.first().focus();
    const before = await rows.count();
    await page.keyboard.press('ArrowLeft');
    await page.waitForFunction(() => document.querySelectorAll('[role=treegrid] tbody tr').length === 1);
    await page.keyboard.press('ArrowRight');
    await page.waitForFunction((count) => document.querySelectorAll('[role=treegrid] tbody tr').length === count, before);
    assert.equal(await rows.first().getAttribute('aria-expanded'), 'true');
  },

  async 'a key of the table is chosen without losing the focus'(page) {
    await show(page, 'panel=table');
    await page.locator('[name=key-device]').focus();
    await page.keyboard.press(' ');
    await page.locator('caption', { hasText: 'module, category, device' }).waitFor();
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute('name')), 'key-device');
  },

  async 'a moment is chosen by its name'(page) {
    const { at_ns: at } = json('tree', '--at=step:1', files[0]);

    await show(page, '');
    await page.keyboard.press('g');
    await page.keyboard.type('step 1');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => location.hash.includes('at=step%3A1'));
    await page.locator(`.heading span[title="${at.toLocaleString('en')} ns"]`).first().waitFor();
    await page.locator('[name=base]').fill('end');
    await page.keyboard.press('Enter');
    await page.locator('caption', { hasText: 'Change by' }).waitFor();
    await page.locator('[name=at]').fill('never');
    await page.keyboard.press('Enter');
    assert.equal(await page.locator('[name=at]:invalid').count(), 1);
    assert.match(await page.evaluate(() => location.hash), /at=step%3A1/);
  },

  async 'the events are those of the command'(page) {
    const { at_ns: peak } = json('tree', '--at=peak', files[0]);
    const { events } = json('events', `--from=${peak}ns`, '--limit=200', files[0]);

    await show(page, 'panel=events');
    await page.locator('caption', { hasText: `The next ${events.length} events` }).waitFor();
    const times = await titles(page.locator('.instant tbody tr td:first-child'));
    assert.deepEqual(times, events.map(({ time_ns: ns }) => `${ns.toLocaleString('en')} ns`));
  },

  async 'a trace without modules shows its calls'(page) {
    const { rows, total } = json('tree', '--at=peak', '--of=peak', '--min=0.05', '--by=callees', files[5]);

    await show(page, 'file=5');
    await page.locator('caption', { hasText: 'Memory by call' }).waitFor();
    const shown = await titles(page.locator('[role=treegrid] tbody tr td.number:nth-child(3)'));
    assert.equal(shown[0], exact(total.peak_bytes));
    assert.equal(shown[1], exact(rows[0].figure));
  },

  async 'the difference of two moments is that of the command'(page) {
    const { view } = json('compare', '--at=end,step:1', '--by=module,category', '--top=1000', files[0]);
    const changed = view.entries.filter(({ runs: [before, after] }) => before.bytes !== after.bytes);

    await show(page, 'panel=difference&base=end&at=step:1');
    await page.locator('caption', { hasText: 'Change by module, category' }).waitFor();
    const cells = page.locator('.instant tbody tr td:nth-child(3)');
    assert.deepEqual(await titles(cells), changed.map(({ runs }) => exact(runs[1].bytes ?? 0)));
    assert.match(await page.locator('.instant .toolbar code').textContent(), /^memledger compare --at=end,step:1 /);
  },
};
