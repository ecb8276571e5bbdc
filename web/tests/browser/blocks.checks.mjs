/* Blocks, stacks, processes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { files, json, settled, show } from './viewer.mjs';

const heap = 5; // the file with stacks and two processes
const exact = (bytes) => `${bytes.toLocaleString('en')} bytes`;
const inTheFirstBlocks = { x: 640, y: 520 };
const placesOfBlocks = [inTheFirstBlocks, { x: 900, y: 540 }, { x: 400, y: 540 }, { x: 1000, y: 500 }];

/* @place  of the button: the page or an element in it */
async function saved(place, name) {
  const page = place.page?.() ?? place;
  const [download] = await Promise.all([page.waitForEvent('download'), place.getByRole('button', { name, exact: true }).click()]);
  return { name: download.suggestedFilename(), text: readFileSync(await download.path(), 'latin1') };
}

function drawn(page) {
  return page.locator('.legend-line span').first().waitFor();
}

export const blocksChecks = {
  async 'a click on a block shows what memledger blocks prints about it'(page) {
    await show(page, 'view=blocks');
    await drawn(page);
    for (const { x, y } of placesOfBlocks) {
      await page.mouse.click(x, y);
      await settled(page);
      if (page.url().includes('block=')) break;
    }
    await page.locator('.block-facts').waitFor();
    const [, address, at, pid] = decodeURIComponent(page.url()).match(/block=(0x[0-9a-f]+)@(\d+ns)@(\d+)/);
    const { list } = json('blocks', `--at=${at}`, `--address=${address}`, `--process=${pid}`, files[0]);
    const block = list.find((one) => one.address === address);
    const facts = await page.locator('.block-facts').textContent();
    for (const fact of [exact(block.bytes), block.category.replaceAll('_', ' '), block.address]) assert.ok(facts.includes(fact), fact);
    if (block.label !== null) assert.ok(facts.includes(block.label));
    assert.equal(await page.locator('.neighbours li').count(), list.length - 1);
    await page.locator('.neighbours button').first().click();
    await page.waitForFunction((old) => !location.hash.includes(old), address);
  },

  async 'arrows go from block to block, and Enter shows it'(page) {
    await show(page, 'view=blocks');
    await drawn(page);
    await page.locator('canvas.blocks').focus();
    await page.keyboard.press('ArrowRight');
    const status = page.locator('.icicle-status');
    const first = await status.textContent();
    await page.keyboard.press('ArrowUp');
    const second = await status.textContent();
    assert.ok(first !== second && /\d (B|KiB|MiB), /.test(first) && /\d (B|KiB|MiB), /.test(second), second);
    await page.keyboard.press('Enter');
    await page.locator('.block-facts').waitFor();
    const [, address, at, pid] = decodeURIComponent(page.url()).match(/block=(0x[0-9a-f]+)@(\d+ns)@(\d+)/);
    const { list } = json('blocks', `--at=${at}`, `--address=${address}`, `--process=${pid}`, files[0]);
    assert.ok((await page.locator('.block-facts').textContent()).includes(exact(list.find((one) => one.address === address).bytes)));
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => !location.hash.includes('block='));
    await page.locator('.largest summary').click();
    await page.locator('.largest tbody button').first().click();
    await page.locator('.block-facts').waitFor();
  },

  async 'blocks are found by time and by address, and zoomed with the wheel'(page) {
    await show(page, 'view=blocks&layout=address');
    await drawn(page);
    await page.mouse.move(inTheFirstBlocks.x, inTheFirstBlocks.y);
    await page.mouse.wheel(0, -400);
    await page.waitForFunction(() => /from=\d+&to=\d+/.test(location.hash));
    await settled(page);
    const [from, to] = page.url().match(/from=(\d+)&to=(\d+)/).slice(1);
    assert.match(await page.locator('.toolbar code').first().textContent(), new RegExp(`blocks --from=${from}ns --to=${to}ns`));
  },

  async 'a trace without segments says so'(page) {
    await show(page, 'view=blocks&layout=segments');
    await page.getByText('only GPU memory has segments').waitFor();
  },

  async 'stacks have the bytes of memledger tree --by callees'(page) {
    for (const sum of ['peak', 'leaked', 'allocated', 'temporary']) {
      const { total, rows } = json('tree', `--of=${sum}`, '--by=callees', '--min=0.05', files[heap]);
      const { groups } = json('table', `--of=${sum}`, '--by=function,file', '--top=1000', files[heap]);

      await show(page, `file=${heap}&view=stacks&sum=${sum}`);
      await page.locator('.icicle-status', { hasText: `(${exact(total[`${sum}_bytes`])})` }).waitFor();
      await page.locator('canvas.icicle').focus();
      const first = page.locator('tbody tr').first();
      assert.equal(await first.locator('td').nth(3).getAttribute('title'), exact(groups[0].allocated_bytes), sum);
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      const frame = await page.locator('.icicle-status').textContent();
      assert.ok(rows.some((row) => row.depth === 1 && frame.startsWith(row.function) && frame.includes(exact(row.figure))), frame);
    }
    assert.match(await page.locator('.toolbar code').first().textContent(), /memledger tree --of=temporary/);
  },

  async 'a picture is saved as SVG with names as text, and as PNG'(page) {
    await show(page, 'file=2&panel=icicle');
    const svg = await saved(page.locator('.instant'), 'SVG');
    assert.equal(svg.name, 'icicle.svg');
    assert.match(svg.text, /^<svg xmlns/);
    assert.ok(!svg.text.includes('<img') && svg.text.includes('&lt;img'));
    assert.match((await saved(page.locator('.instant'), 'PNG')).text, /^.PNG/);
  },

  async 'the timeline is saved with its bands'(page) {
    await show(page, '');
    const { name, text } = await saved(page.locator('.timeline'), 'SVG');
    assert.equal(name, 'timeline.svg');
    assert.ok(text.includes('>parameter ') && (text.match(/<path d=/g) ?? []).length > 3);
  },

  async 'keys choose a moment in other views too'(page) {
    await show(page, 'view=stacks');
    await page.keyboard.press('e');
    await page.getByText('(end)').waitFor();
    await page.keyboard.press('N');
    await page.waitForFunction(() => /at=step%3A\d+/.test(location.hash));
  },

  async 'processes and threads have the numbers of the commands'(page) {
    const { processes } = json('summary', files[heap]);
    const { threads } = json('stats', '--top=1000', files[heap]);

    await show(page, `file=${heap}&view=processes`);
    await page.locator('caption', { hasText: 'Threads' }).waitFor();
    const peaks = page.locator('table').first().locator('tbody tr td:nth-child(2)');
    assert.deepEqual(await peaks.evaluateAll((cells) => cells.map((cell) => cell.getAttribute('title'))), processes.map((p) => exact(p.peak_bytes)));
    assert.equal(await page.locator('table').nth(1).locator('tbody tr').count(), threads.length);
  },

  async 'the process filter applies to tree, table, blocks and stacks'(page) {
    const [{ pid }] = json('summary', files[heap]).processes;
    const { bytes, groups } = json('table', '--by=function,file', '--of=peak', `--process=${pid}`, files[heap]);

    await show(page, `file=${heap}&view=processes`);
    await page.getByRole('button', { name: String(pid), exact: true }).click();
    for (const fragment of ['', 'panel=table', 'view=stacks']) {
      await show(page, `file=${heap}&process=${pid}&${fragment}`);
      await page.locator(`.heading strong[title="${exact(bytes)}"]`).waitFor();
    }
    await page.locator(`tbody tr:first-child td[title="${exact(groups[0].peak_bytes)}"]`).first().waitFor(); // after the heading
    await show(page, `file=${heap}&process=${pid}&view=blocks`);
    await drawn(page);
    assert.match(await page.locator('.toolbar code').first().textContent(), new RegExp(`--process=${pid}`));
  },

  async 'a search for a size leaves the larger rows'(page) {
    const { groups } = json('table', '--by=module,category', '--top=1000', files[0]);

    await show(page, 'panel=table&search=%3E100KiB');
    await page.locator('caption', { hasText: 'Memory by module, category' }).waitFor();
    assert.equal(await page.locator('.instant tbody tr').count(), groups.filter(({ bytes }) => bytes > 102400).length);
  },
};
