/* Layouts of blocks over time, of segments, and of stacks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { Tile } from '../../src/api/types';
import { describe, expect, test } from 'vitest';
import { addressLayout, mergeSpans } from '../../src/blocks/addresses';
import { neighboursOf, type BlockRow } from '../../src/blocks/detail';
import { pieceAt } from '../../src/blocks/pieces';
import { stackedLayout } from '../../src/blocks/stacked';
import { tileCsv } from '../../src/blocks/tile';
import { step } from '../../src/blocks/walk';
import { shadeOf } from '../../src/theme/inks';
import type { CallRow } from '../../src/api/types';
import { callName, callRoot } from '../../src/flame/calls';

/* Address, bytes, begin, end; the window is 0 to 100. */
function tileOf(blocks: readonly (readonly [number, number, number, number])[]): Tile {
  const column = (i: number) => blocks.map((block) => block[i] as number);
  const zeroes = blocks.map(() => 0);

  return {
    from_ns: 0, to_ns: 100, blocks: blocks.length, bytes: 0, categories: [], names: ['cpu'],
    list: {
      address: column(0), bytes: column(1), begin_ns: column(2), end_ns: column(3), freed: blocks.map((b) => Number(b[3] < 100)),
      pid: blocks.map(() => 1), category: zeroes, device: zeroes, label: zeroes, module: zeroes, line: zeroes, function: zeroes,
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

  test('a block that was freed at the time of its allocation does not stay', () => {
    expect(stackedLayout(tileOf([[0, 10, 0, 100], [64, 7, 20, 20], [128, 3, 40, 60]]), 100).height).toBe(13);
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
  expect(tileCsv(tileOf([[16, 8, 1, 2]])).split('\n')[1]).toBe('0x10,8,1,2,1,1,cpu,,cpu,cpu,cpu,cpu'));

test('neighbours are the rows beside the one at the address', () => {
  const rows = [{ address: '0x10', bytes: 8 }, { address: '0x20', bytes: 8 }, { address: '0x40', bytes: 8 }] as BlockRow[];
  const found = neighboursOf(rows, 0x24);

  expect([found?.below?.address, found?.block.address, found?.above?.address]).toEqual(['0x10', '0x20', '0x40']);
  expect(neighboursOf(rows, 0x30)).toBeNull();
});

describe('calls', () => {
  const row = (depth: number, name: string | null, figure: number, own = 0): CallRow =>
    ({ depth, function: name, file: null, line: null, library: null, functions: 2, figure, own });

  test('have short names', () => {
    expect(callName({ ...row(1, 'forward', 1), file: '/home/me/model.py', line: 42 })).toBe('forward (model.py:42)');
    expect(callName({ ...row(1, 'inflate', 1), library: '/lib/libz.so.1' })).toBe('inflate (libz.so.1)');
    expect(callName({ ...row(1, '(unknown in git)', 1), library: '/usr/bin/git' })).toBe('(unknown in git)');
    expect(callName(row(1, null, 1))).toBe('(2 small functions)');
  });

  test('contain those with a greater depth', () => {
    const root = callRoot([row(1, 'main', 9), row(2, 'load', 6, 6), row(2, 'save', 3), row(3, 'write', 3, 3), row(1, 'other', 1)], 10);

    expect(root.children.map(({ name, bytes }) => [name, bytes])).toEqual([['main', 9], ['other', 1]]);
    expect(root.children[0]?.children.map(({ detail }) => detail)).toEqual(['main > load', 'main > save']);
    expect(root.children[0]?.children[1]?.children[0]?.part).not.toBeNull();
  });
});

describe('walking from block to block', () => {
  const box = (block: number, from: number, to: number, y: number) => ({ block, from, to, y, height: 10 });
  const layout = { boxes: [box(2, 40, 90, 10), box(0, 0, 100, 0), box(1, 20, 60, 20), box(1, 60, 80, 10)], height: 30, marks: [], edge: [] };
  const all = { from: 0, to: 100 };

  test('goes in the order of allocation', () => {
    const first = step(layout, all, null, 'later');
    const second = step(layout, all, first, 'later');
    expect([first?.block, second?.block, step(layout, all, second, 'later')?.block]).toEqual([0, 1, 2]);
    expect(step(layout, all, null, 'earlier')?.block).toBe(2);
    expect(step(layout, all, { block: 2, time: 50 }, 'later')).toBeNull();
  });

  test('goes up and down at one moment', () => {
    expect(step(layout, all, { block: 0, time: 50 }, 'above')).toEqual({ block: 2, time: 50 });
    expect(step(layout, all, { block: 2, time: 50 }, 'above')).toEqual({ block: 1, time: 50 });
    expect(step(layout, all, { block: 0, time: 50 }, 'below')).toBeNull();
    expect(step(layout, all, null, 'above')?.block).toBe(0);
  });

  test('stays in the visible part', () => {
    expect(step(layout, { from: 85, to: 100 }, null, 'later')?.block).toBe(0);
    expect(step(layout, { from: 85, to: 100 }, { block: 0, time: 90 }, 'later')?.block).toBe(2);
  });
});

describe('segments', () => {
  const block = (offset: number, bytes: number) => ({ offset, bytes, category: 'other', name: null });
  const segment = { bytes: 100, block_list: [block(10, 20), block(30, 5), block(60, 40)] };

  test('finds the block or the hole at an offset', () => {
    expect(pieceAt(segment, 12)).toEqual({ from: 10, to: 30, block: segment.block_list[0] });
    expect(pieceAt(segment, 35)).toEqual({ from: 35, to: 60, block: null });
    expect(pieceAt(segment, 0)).toEqual({ from: 0, to: 10, block: null });
    expect(pieceAt({ bytes: 8, block_list: [] }, 3)).toEqual({ from: 0, to: 8, block: null });
  });
});

describe('the shade of a rank', () => {
  test('goes from the lowest peak of all ranks to the highest', () => {
    expect(shadeOf(0, 10, 20)).toBe(0);
    expect(shadeOf(20, 10, 20)).toBeCloseTo(1);
    expect(shadeOf(10, 10, 20)).toBeGreaterThan(0);
    expect(shadeOf(10, 10, 10)).toBe(0.5);
  });
});
