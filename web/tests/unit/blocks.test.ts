/* Layouts of blocks over time, of segments, and of stacks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { describe, expect, test } from 'vitest';
import { addressLayout, mergeSpans } from '../../src/blocks/addresses';
import { neighboursOf, type BlockRow } from '../../src/blocks/detail';
import { stackedLayout } from '../../src/blocks/stacked';
import { tileCsv, type Tile } from '../../src/blocks/tile';
import { framesOf, shortFrame, stackRoot } from '../../src/flame/stacks';

/* Address, bytes, begin, end; the window is 0 to 100. */
function tileOf(blocks: readonly (readonly [number, number, number, number])[]): Tile {
  const column = (i: number) => blocks.map((block) => block[i] as number);
  const zeroes = blocks.map(() => 0);

  return {
    from_ns: 0, to_ns: 100, blocks: blocks.length, bytes: 0, categories: [], names: ['cpu'],
    list: {
      address: column(0), bytes: column(1), begin_ns: column(2), end_ns: column(3), freed: blocks.map((b) => Number(b[3] < 100)),
      pid: blocks.map(() => 1), category: zeroes, device: zeroes, label: zeroes, module: zeroes, line: zeroes,
    },
    rest: { blocks: 0, bytes: 0, mean_bytes: [] },
  } as unknown as Tile;
}

describe('stacked lifetimes', () => {
  test('a free lets the blocks above sink', () => {
    const { boxes, height } = stackedLayout(tileOf([[0, 10, 0, 50], [0, 5, 10, 100]]), 100);

    expect(height).toBe(15);
    expect(boxes.filter(({ block }) => block === 1).map(({ from, to, y }) => [from, to, y])).toEqual([[10, 51, 10], [51, 100, 0]]); // each column at its highest
  });

  test('a column shows its highest moment, not all blocks that passed through it', () => {
    const blocks = Array.from({ length: 9 }, (_, i) => [0, 8, 10 + i, 11 + i] as const);
    expect(stackedLayout(tileOf(blocks), 2).height).toBe(8);
  });

  test('the upper edge is the sum of what is live', () => {
    const { edge } = stackedLayout(tileOf([[0, 10, 0, 50], [0, 5, 10, 100]]), 100);
    const at = (time: number) => edge.filter((step) => step.time <= time).at(-1)?.y;
    expect([at(5), at(20), at(60)]).toEqual([10, 15, 5]);
  });
});

describe('addresses over time', () => {
  test('spans that touch become one', () =>
    expect(mergeSpans([{ from: 0, to: 4 }, { from: 4, to: 8 }, { from: 20, to: 21 }], 2)).toEqual([{ from: 0, to: 8 }, { from: 20, to: 21 }]));

  test('wide gaps are cut out, and the order of addresses is kept', () => {
    const { boxes, height } = addressLayout(tileOf([[1e12, 100, 0, 100], [0, 100, 0, 100], [100, 100, 0, 100]]));
    const y = (block: number) => boxes.find((box) => box.block === block)?.y ?? -1;

    expect(height).toBeLessThan(400);
    expect([y(1), y(2)]).toEqual([0, 100]);
    expect(y(0)).toBeGreaterThan(200);
  });
});

test('blocks are copied as rows', () =>
  expect(tileCsv(tileOf([[16, 8, 1, 2]])).split('\n')[1]).toBe('0x10,8,1,2,1,1,cpu,,cpu,cpu,cpu'));

test('neighbours are the rows beside the one at the address', () => {
  const rows = [{ address: '0x10', bytes: 8 }, { address: '0x20', bytes: 8 }, { address: '0x40', bytes: 8 }] as BlockRow[];
  const found = neighboursOf(rows, 0x24);

  expect([found?.below?.address, found?.block.address, found?.above?.address]).toEqual(['0x10', '0x20', '0x40']);
  expect(neighboursOf(rows, 0x30)).toBeNull();
});

describe('stacks', () => {
  test('are read from the innermost frame', () => expect(framesOf('malloc < load < main')).toEqual(['main', 'load', 'malloc']));

  test('have short names', () => {
    expect(shortFrame('forward (/home/me/model.py:42)')).toBe('forward (model.py:42)');
    expect(shortFrame('f(int) (libx.so)')).toBe('f(int) (libx.so)');
  });

  test('share their outer frames', () => {
    const root = stackRoot([
      { frames: ['main', 'load'], bytes: 6 }, { frames: ['main', 'save'], bytes: 3 }, { frames: [], bytes: 1 },
    ]);

    expect(root.bytes).toBe(10);
    expect(root.children.map(({ name, bytes }) => [name, bytes])).toEqual([['main', 9], ['(no stack)', 1]]);
    expect(root.children[0]?.children.map(({ detail }) => detail)).toEqual(['main > load', 'main > save']);
  });
});
