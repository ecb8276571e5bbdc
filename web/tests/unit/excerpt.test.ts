/* excerpt.test.ts: The answers that an exported page contains.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { expect, test } from 'vitest';
import { cutPlot, excerptSentences, findAnswer, hasAllGroups, nearestInstant, type Contained, type Excerpt } from '../../src/api/excerpt';
import type { Plot } from '../../src/api/types';

function contained(verb: string, options: Record<string, string>): Contained {
  return { verb, options, command: `memledger ${verb}`, block: 1 };
}

const tree = contained('tree', { at: 'step:3', min: '0' });
const table = contained('table', { at: 'peak', by: 'module,category', top: '1000' });
const whole = contained('plot', { by: 'category', width: '4000' });
const steps = contained('plot', { by: 'category', from: '100ns', to: '200ns', width: '4000' });
const excerpt: Excerpt = {
  memledger: '0', file: { id: 0, name: 'a.mled', path: 'a.mled', bytes: 1 },
  instants: [{ at: 'peak', at_ns: 150 }, { at: 'step:3', at_ns: 300 }, { at: 'oom:2', at_ns: 400 }],
  steps: 100, steps_contained: 24, refusals: 1, refusals_contained: 1, answers: [tree, table, whole, steps], trees_folded: false, left_out: [],
};

test('a time is answered by the nearest moment', () => {
  expect(nearestInstant(excerpt, '260ns')).toBe('step:3');
  expect(nearestInstant(excerpt, '0ns')).toBe('peak');
  expect(nearestInstant(excerpt, 'oom')).toBe('oom:2');
  expect(nearestInstant(excerpt, 'step:7')).toBe('step:7');
});

test('answers are found by their options, in any order', () => {
  expect(findAnswer(excerpt, 'tree', [['file', '0'], ['min', '0'], ['at', '310ns']])).toBe(tree);
  expect(findAnswer(excerpt, 'tree', [['file', '0'], ['at', 'step:4'], ['min', '0']])).toBeUndefined();
  expect(findAnswer(excerpt, 'tree', [['at', 'step:3'], ['min', '0'], ['device', 'cpu']])).toBeUndefined();
  expect(findAnswer(excerpt, 'events', [])).toBeUndefined();
});

test('all groups are only those of a table without a rest', () => {
  const query = [['at', 'peak'], ['by', 'module,category'], ['top', '1000000']] as const;
  expect(findAnswer(excerpt, 'table', query)).toBe(table);
  expect(hasAllGroups(query, table, { rest: { groups: 0 } })).toBe(true);
  expect(hasAllGroups(query, table, { rest: { groups: 5 } })).toBe(false);
  expect(hasAllGroups([['top', '1000']], table, { rest: { groups: 5 } })).toBe(true);
});

test('a range is answered by the finest timeline that covers it', () => {
  const range = (from: number, to: number) => [['by', 'category'], ['from', `${from}ns`], ['to', `${to}ns`], ['width', '900']] as const;
  expect(findAnswer(excerpt, 'plot', range(110, 190))).toBe(steps);
  expect(findAnswer(excerpt, 'plot', range(90, 190))).toBe(whole);
  expect(findAnswer(excerpt, 'plot', [['by', 'category'], ['width', '900']])).toBe(whole);
  expect(findAnswer(excerpt, 'plot', [['by', 'module'], ['width', '900']])).toBeUndefined();
});

test('a part of a timeline has a moment on each side', () => {
  const plot = { from_ns: 0, to_ns: 50, times_ns: [0, 10, 20, 30, 40, 50], peak_bytes: 5, bands: [{ name: 'input', peak_bytes: 5 }], bytes: [[0, 1, 2, 3, 4, 5]] } as unknown as Plot;
  const part = cutPlot(plot, [['from', '15ns'], ['to', '35ns']]);
  expect(part).toMatchObject({ from_ns: 15, to_ns: 35, times_ns: [10, 20, 30, 40], bytes: [[1, 2, 3, 4]] });
  expect(part).toMatchObject({ peak_bytes: 3, bands: [{ name: 'input', peak_bytes: 3 }] }); // not those of the whole run
  expect(cutPlot(plot, [])).toEqual(plot);
});

test('the page says what it contains', () => {
  expect(excerptSentences(excerpt).join(' ')).toContain('the peaks of 24 of 100 steps, 1 refused allocation');
});
