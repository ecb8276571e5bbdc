/* The timeline: zoom, moments, keys.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import assert from 'node:assert/strict';
import { files, json, settled, show } from './viewer.mjs';

const chart = { x: 500, y: 260 }; // in the bands

/* Once the chart shows the steps, it takes clicks and keys. */
function fitted(page) {
  return page.waitForFunction(() => document.querySelector('.timeline .toolbar code')?.textContent.includes('--from'));
}

/* --from and --to of the command above the timeline */
async function span(page) {
  const text = await page.locator('.timeline .toolbar code').textContent();
  return text.match(/--from=(\d+)ns --to=(\d+)ns/).slice(1).map(Number);
}

async function showsFrom(page, from, isThis) {
  await page.waitForFunction(
    ([part, wanted]) => document.querySelector('.timeline .toolbar code')?.textContent.includes(part) === wanted,
    [`--from=${from}ns`, isThis],
  );
}

async function drag(page, length) {
  await page.mouse.move(chart.x, chart.y);
  await page.mouse.down();
  await page.mouse.move(chart.x + length, chart.y, { steps: 4 });
  await page.mouse.up();
}

export const timelineChecks = {
  async 'the timeline is fitted to the steps, a drag zooms in, 0 goes back'(page) {
    const { steps } = json('steps', files[0]);

    await show(page, '');
    await fitted(page);
    const before = await span(page);
    assert.ok(before[0] <= steps[0].begin_ns && before[0] > steps[0].begin_ns / 2);
    await drag(page, 200);
    await showsFrom(page, before[0], false);
    const zoomed = await span(page);
    assert.ok(zoomed[1] - zoomed[0] < (before[1] - before[0]) / 2);
    await page.keyboard.press('0');
    await showsFrom(page, before[0], true);
  },

  async 'the legend has the peaks of the bands that plot --json prints'(page) {
    await show(page, '');
    await fitted(page);
    await page.mouse.move(5, 5);
    const [from, to] = await span(page);
    const { bands } = json('plot', `--from=${from}ns`, `--to=${to}ns`, '--by=category', files[0]);
    for (const band of bands.filter(({ peak_bytes: bytes }) => bytes > 0)) {
      const line = page.locator('.legend li', { has: page.getByText(band.name.replaceAll('_', ' '), { exact: true }) });
      assert.equal(await line.locator('.number').getAttribute('title'), `${band.peak_bytes.toLocaleString('en')} bytes`, band.name);
    }
  },

  async 'all open traces are stacked over the wall clock, and a click chooses a moment of the shown one'(page) {
    await show(page, 'by=rank&salvage=true&file=1');
    await fitted(page);
    const options = (await page.locator('.timeline .toolbar code').textContent()).match(/--\S+=\S+/g);
    const { bands, traces } = json('plot', '--salvage', ...options, ...files);
    await page.mouse.move(5, 5);
    const shown = await page.locator('.legend li .number').evaluateAll((numbers) => numbers.map(({ title }) => title));
    for (const band of bands.filter(({ peak_bytes: bytes }) => bytes > 0))
      assert.ok(shown.includes(`${band.peak_bytes.toLocaleString('en')} bytes`), band.name);
    const [from, to] = await span(page);
    const area = await page.locator('.chart .u-over').boundingBox();
    await page.mouse.click(area.x + area.width / 2, area.y + area.height / 2);
    await page.waitForURL(/at=\d+ns/);
    const at = Number(/at=(\d+)ns/.exec(page.url())[1]);
    const wanted = Math.max((from + to) / 2 - traces[1].start_ns, 0);
    assert.ok(Math.abs(at - wanted) < (to - from) / 100, `${at} is not near ${wanted}`);
  },

  async 'a click chooses a moment with the numbers of the command, Shift-click another to compare with'(page) {
    await show(page, '');
    await fitted(page);
    await page.mouse.click(chart.x, chart.y);
    await page.waitForFunction(() => /at=\d+ns/.test(location.hash));
    const at = page.url().match(/at=(\d+ns)/)[1];
    const { bytes } = json('tree', `--at=${at}`, files[0]);
    await page.locator(`.heading strong[title="${bytes.toLocaleString('en')} bytes"]`).waitFor();
    await page.keyboard.down('Shift');
    await page.mouse.click(chart.x + 100, chart.y);
    await page.keyboard.up('Shift');
    await page.locator('caption', { hasText: 'Change by' }).waitFor();
    assert.match(new URL(page.url()).hash, /base=\d+ns/);
  },

  async 'keys go to the peak, the end and the next step'(page) {
    await show(page, '');
    await fitted(page);
    for (const [key, at] of [['e', /at=end/], ['p', /^#?$/], ['N', /at=step%3A\d+/]]) {
      await page.locator('.chart').focus();
      await page.keyboard.press(key);
      await page.waitForFunction((source) => new RegExp(source).test(location.hash), at.source);
      await settled(page);
    }
  },

  async 'modules of one depth, and one process, are the bands of the command'(page) {
    const [{ pid }] = json('summary', files[0]).processes;
    const { bands } = json('plot', '--by=module', '--depth=2', `--process=${pid}`, files[0]);

    await show(page, `by=module&process=${pid}`);
    await page.locator('select[name=Depth]').selectOption('2');
    await page.locator('.legend .name', { hasText: bands[0].name }).first().waitFor();
    await page.waitForFunction(() => document.querySelector('.timeline .toolbar code')?.textContent.includes('--depth=2'));
    assert.match(await page.locator('.timeline .toolbar code').textContent(), new RegExp(`--process=${pid}`));
    // The legend leaves out the path that all modules share.
    const names = await page.locator('.legend .name').evaluateAll((list) => list.map((name) => name.title));
    for (const { name } of bands.filter((band) => band.peak_bytes > 0 && !band.rest && band.name !== null)) assert.ok(names.includes(name), name);
  },
};
