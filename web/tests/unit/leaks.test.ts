/* The words of the view of leaks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { describe, expect, test } from 'vitest';
import type { Leak, Leaks, NeverFreed } from '../../src/api/types';
import { blocksText, fateSentence } from '../../src/views/leak-words';
import { leftCaption, reachSentence } from '../../src/views/never-freed';

function leak(grown: number, measured: number, left?: number): Leak {
  return {
    sign: 'steady', bytes_per_step: 1, blocks_per_step: grown / measured, grown_blocks: grown, grew_in_steps: 3, live_bytes: 1,
    ...(left === undefined ? {} : { never_freed_bytes: left }),
  };
}

test('blocks per step are printed as by the command line', () => {
  expect(blocksText(leak(8, 8), 8)).toBe('+1');
  expect(blocksText(leak(4, 8), 8)).toBe('+0.50');
  expect(blocksText(leak(1, 8), 8)).toBe('+0.13');
  expect(blocksText(leak(-1, 8), 8)).toBe('-0.13');
});

describe('what became of the growth', () => {
  const of = (leaks: Leak[], growing: number) =>
    fateSentence({ leaks, never_freed: { bytes: 1, blocks: 1, groups: 1, growing_bytes: growing, largest: [] } } as unknown as Leaks);

  test('a part was never freed', () => expect(of([leak(8, 8, 1024)], 1024)).toEqual(['1.0 KiB of this growth was never freed.']));
  test('all was freed', () => expect(of([leak(8, 8, 0)], 0)[0]).toMatch(/^All of this was freed before the program ended/));
  test('of steps, and while a program runs, it is not known', () => expect(of([leak(8, 8)], 0)).toEqual([]));
});

describe('never freed', () => {
  const left = { bytes: 665, blocks: 3, groups: 2 };

  test('without a search', () => {
    const data = { never_freed: left, groups: [] } as unknown as NeverFreed;
    expect(leftCaption(data)).toBe('Never freed: 665 B in 3 blocks, from 2 stacks');
    expect(reachSentence(data)).toMatch(/--scan-at-exit/);
  });

  test('lost and reachable', () => {
    const reach = { definitely_lost: { bytes: 64, blocks: 1 }, indirectly_lost: { bytes: 0, blocks: 0 }, reachable: { bytes: 601, blocks: 2 } };
    const data = { searched: [], never_freed: { ...left, ...reach }, groups: [] } as unknown as NeverFreed;
    expect(reachSentence(data)).toBe('definitely lost: 64 B in 1 block; still reachable: 601 B in 2 blocks.');
  });
});
