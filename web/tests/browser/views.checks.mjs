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

  async 'a view without an answer shows the command and its reason'(page) {
    await show(page, 'view=oom');
    await page.getByText('No allocation was refused').waitFor();
    assert.match(await page.locator('main .toolbar code').textContent(), /^memledger oom .*\.mled$/);
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

  async 'three runs are compared, aligned by step'(page) {
    const compared = json('compare', '--each=step', '--top=1000', files[0], files[1], files[5]);
    const shown = page.locator('table').nth(1);

    await show(page, 'view=compare&each=step');
    await page.route('**/api/compare?*', (route) => route.continue({ url: route.request().url().replace(/&file=[234](?=&)/g, '') }));
    await page.locator('select[name="Compare with"]').selectOption('all');
    await page.locator('table').first().locator('tbody tr').nth(2).waitFor();
    assert.equal(await shown.locator('tbody tr').count(), compared.view.entries.length);
    for (const [i, run] of compared.view.entries[0].runs.entries())
      if (run.bytes !== undefined) assert.equal(await shown.locator('tbody tr').first().locator('td').nth(1 + i).getAttribute('title'), exact(run.bytes));
  },

  async 'filters apply to the summary, steps, threads and events'(page) {
    const heap = 5;
    const [, { pid }] = json('summary', files[heap]).processes;
    const of = `--process=${pid}`;
    const peak = json('summary', of, files[heap]).peak_bytes;

    await show(page, `file=${heap}&process=${pid}&view=summary`);
    await page.locator(`.facts dd[title="${exact(peak)}"]`).waitFor();
    const choices = await page.locator('select[name="Process"] option').allTextContents();
    const { processes } = json('summary', files[heap]);
    assert.deepEqual(choices.slice(1), processes.map((one) => `${one.pid} ${one.role ? `${one.role}: ` : ''}${one.command.replace(/\/\S*\//g, '')}`));
    await show(page, `file=${heap}&process=${pid}&view=processes`);
    await page.locator('caption', { hasText: 'Threads' }).waitFor();
    assert.equal(await page.locator('table').first().locator('tbody tr').count(), 1);
    assert.equal(await page.locator('table').nth(1).locator('tbody tr').count(), json('stats', of, '--top=1000', files[heap]).threads.length);
    await show(page, `file=${heap}&process=${pid}&panel=events&at=0ns`);
    await page.locator('caption', { hasText: 'events' }).waitFor();
    const pids = await page.locator('.instant tbody tr td:nth-last-child(2)').allTextContents();
    assert.deepEqual([...new Set(pids)], [String(pid)]);
    await show(page, 'device=cpu&view=steps');
    await page.locator('.toolbar code', { hasText: 'steps --device=cpu' }).waitFor();
  },

  async 'leaks say what grew, and what was never freed'(page) {
    const heap = 5;
    const { leaks, never_freed: left } = json('leaks', files[heap]);
    const { groups } = json('leaks', '--never-freed', files[heap]);
    const titles = (caption, column) => page.locator('table', { hasText: caption }).locator(`tbody tr td:nth-child(${column})`)
      .evaluateAll((found) => found.map((cell) => cell.getAttribute('title')));

    await show(page, `file=${heap}&view=leaks`);
    await page.getByText('slices of equal time').waitFor();
    await page.getByText('--scan-at-exit').waitFor();
    if (leaks.length > 0) {
      assert.deepEqual(await titles('What grows', 4), leaks.map((leak) => exact(leak.live_bytes)));
      assert.deepEqual(await titles('What grows', 5), leaks.map((leak) => exact(leak.never_freed_bytes)));
    }
    await page.locator('caption', { hasText: `in ${left.blocks.toLocaleString('en')} block` }).waitFor();
    assert.deepEqual(await titles('Never freed:', 1), groups.map((group) => exact(group.bytes)));
  },

  async 'leaks after the last step have a table'(page) {
    const { by } = json('leaks', files[0]);
    const leak = { sign: 'steady', bytes_per_step: 1024, blocks_per_step: 1, grew_in_steps: 8, live_bytes: 8192, ...Object.fromEntries(by.map((key) => [key, 'kept'])) };
    const after = { by_slices_of: 'time', slices: 10, steps: 8, warm_up: 0, measured: 8, first_step: 1, last_step: 8, from_bytes: 0, to_bytes: 8192, bytes_per_step: 1024, other_processes: 0, leaks: [leak] };

    await page.route('**/api/leaks?*', async (route) => {
      const response = await route.fetch();
      const headers = response.headers();

      delete headers['content-length'];
      await route.fulfill({ response, headers, json: { ...(await response.json()), after_steps: after } });
    });
    await show(page, 'view=leaks');
    const row = page.locator('table', { hasText: 'What grows after the last step' }).locator('tbody tr');
    await row.waitFor();
    assert.equal(await row.locator('td').nth(3).getAttribute('title'), exact(leak.live_bytes));
    assert.equal(await row.locator('td').count(), 5 + by.length);
  },

  async 'a difference of malloc is by function, with the numbers of compare'(page) {
    const heap = 5;
    const [first] = json('compare', '--at=end,peak', '--by=function,file', '--top=1000', files[heap]).view.entries;

    await show(page, `file=${heap}&panel=difference&base=end&at=peak`);
    await page.locator('caption', { hasText: 'Change by function, file' }).waitFor();
    const cell = page.locator('#instant-panel tbody tr').first().locator('td').nth(2);
    assert.equal(await cell.getAttribute('title'), exact(first.runs[1].bytes));
  },

  async 'a view without content has its title and a sentence'(page) {
    for (const [view, title] of [['stacks', 'Stacks'], ['oom', 'Out of memory']]) {
      await show(page, `view=${view}`);
      await page.getByRole('heading', { name: title }).waitFor();
      await page.locator('main .notice').waitFor();
    }
  },

  async 'ranks have the numbers of the command, and a click opens one'(page) {
    const { ranks } = json('ranks', files[0], files[1]);

    await page.route('**/api/ranks?*', (route) => route.continue({ url: route.request().url().replace(/&file=[2345]/g, '') }));
    await show(page, 'view=ranks');
    await page.locator('caption', { hasText: 'Ranks' }).waitFor();
    const peaks = page.locator('tbody tr td:nth-child(2)');
    assert.deepEqual(await peaks.evaluateAll((cells) => cells.map((cell) => cell.getAttribute('title'))), ranks.map(({ peak_bytes: bytes }) => exact(bytes)));
    await page.locator('canvas.rank-map').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.locator('.icicle-status', { hasText: `rank ${ranks[1].rank}:` }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForFunction((hash) => location.hash === hash, ranks[1].file === files[1] ? '#file=1' : '#');
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
