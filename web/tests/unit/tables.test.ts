/* tables.test.ts: Rows of tables, and sentences.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { expect, test } from 'vitest';
import type { Health, Leaks, OomChange, OomVerdict } from '../../src/api/types';
import { bytesColumn, textColumn } from '../../src/dom/columns';
import { asSentence } from '../../src/dom/notice';
import { searchRows, sortRows } from '../../src/dom/sort';
import { healthSentences } from '../../src/views/health';
import { methodSentences, nothingGrows, rangeSentence } from '../../src/views/leak-words';
import { changeText, requestSentence } from '../../src/views/oom-words';

interface Row {
  name: string | null;
  bytes: number | null;
}

const rows: Row[] = [{ name: 'Beta', bytes: 5 }, { name: 'alpha', bytes: null }, { name: null, bytes: 50 }];
const columns = [textColumn<Row>('name', (row) => row.name, '(no name)'), bytesColumn<Row>('bytes', (row) => row.bytes)];

test('rows are sorted by exact values, absent ones last', () => {
  const bytes = (descending: boolean) => sortRows(rows, columns, { column: 1, descending }).map((row) => row.bytes);
  expect(bytes(true)).toEqual([50, 5, null]);
  expect(bytes(false)).toEqual([5, 50, null]);
  expect(sortRows(rows, columns, null)).toEqual(rows);
});

test('an unknown number is not 0', () => {
  expect(rows.map((row) => [columns[1]?.text(row), columns[1]?.exact?.(row)])).toEqual([
    ['5 B', '5 bytes'], ['', 'unknown'], ['50 B', '50 bytes'],
  ]);
});

test('a search looks at names, whatever their case', () => {
  expect(searchRows(rows, columns, 'BET')).toEqual([rows[0]]);
  expect(searchRows(rows, columns, 'no name')).toEqual([rows[2]]);
  expect(searchRows(rows, columns, '50')).toEqual([]);
});

const healthy: Health = { lost: 0, cut_short: false, being_written: false, ignored_bytes: 0, damaged_blocks: 0, names_folded: 0 };

test('a healthy trace needs no sentence', () => expect(healthSentences(healthy)).toEqual([]));

test('problems of a trace are sentences', () => {
  const health = { ...healthy, lost: 1234, cut_short: true, ignored_bytes: 836 };
  expect(healthSentences(health)).toEqual([
    'The file is truncated: 836 bytes of an incomplete block at its end are ignored.',
    '1,234 events were lost.',
  ]);
  expect(healthSentences({ ...healthy, imported_from: 'tbd-log', unknown: ['addresses', 'times'] })).toEqual([
    'Imported from tbd-log; unknown: addresses, times.',
  ]);
  expect(healthSentences({ ...healthy, window: { begin_ns: 7e12, kept_ns: 200e9 } })).toEqual([
    'Kept: the last 3 min 20 s of 2 h 00 min. Blocks that were freed before are missing.',
  ]);
});

test('a verdict has the words of the command', () => {
  const verdict = {
    pid: 4000, asked_bytes: 251658240, device: 'cuda:0', space: 'torch', module: 'GPT > layers.1', scope: null, class: 'Block',
    phase: 'forward', category: 'activation or temporary', line: 'me/model.py:42 Block.forward',
  };
  expect(requestSentence(verdict as OomVerdict)).toBe(
    'Process 4000 asked for 240.0 MiB on cuda:0 (torch), in GPT > layers.1 (Block), forward: ' +
      'it would be activation or temporary, at me/model.py:42 Block.forward.',
  );
  const killed = { ...verdict, killed: true, group_limit_bytes: 1 << 30, line: null };
  expect(requestSentence(killed as OomVerdict)).toBe(
    'The kernel killed process 4000 to keep the memory limit of its control group, 1.00 GiB. Its last allocation was of ' +
      '240.0 MiB on cuda:0 (torch), in GPT > layers.1 (Block), forward: probably activation or temporary.',
  );
  expect(changeText({ change: 'leak', bytes: 1, enough: true, module: 'Net' })).toBe('stop the leak: Net keeps growing');
  expect(changeText({ change: 'bfloat16', bytes: 1, enough: true, of: 'parameters' })).toBe('parameters in bf16 instead of fp32');
  const change = { change: 'smaller_batch', bytes: 1, enough: true, fraction: 0.17543859649122806, of_bytes: 358612992 };
  expect(changeText(change)).toBe('a batch smaller by 17.5 %: 342.0 MiB grow with it');
  expect(changeText({ change: 'of_a_later_version' } as OomChange)).toBe('of_a_later_version');
});

test('messages of the command become sentences', () => {
  expect(asSentence('no allocation was refused')).toBe('No allocation was refused.');
  expect(asSentence('a.mled: the block at byte 391 is damaged')).toBe('a.mled: the block at byte 391 is damaged.');
});

const unchanged = { by_slices_of: 'step', steps: 10, warm_up: 2, measured: 8, first_step: 2, last_step: 9, from_bytes: 1024, to_bytes: 1024, bytes_per_step: 0, other_processes: 0, by: [], leaks: [] } as unknown as Leaks;

test('memory that rose once does not look like growth in every step', () => {
  const risen = { ...unchanged, by_slices_of: 'time', slices: 20, to_bytes: 2048, bytes_per_step: 128 };

  expect(rangeSentence(unchanged)).toBe('8 steps, 2 to 9; 2 before are warm-up. Live 1.0 KiB before them, 1.0 KiB after: no change a step.');
  expect(nothingGrows(unchanged)).toBe('Nothing grows from step to step.');
  expect(rangeSentence(risen)).toContain('+1.0 KiB in all.');
  expect(nothingGrows(risen)).toBe('Nothing grows from slice to slice: live memory rose by 1.0 KiB, but it did not keep rising.');
  expect(methodSentences(risen)[0]).toContain('20 slices of equal time');
});

test('too few steps are named as such', () => {
  expect(rangeSentence({ ...unchanged, steps: 2, measured: 0 })).toBe('There is nothing to compare: 2 steps were recorded and all are warm-up.');
});
