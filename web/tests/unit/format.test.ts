/* format.test.ts: Numbers and times as texts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { sizeTest } from '../../src/format/size-search';
import { describe, expect, test } from 'vitest';
import { formatBytes, formatChange, formatCount, formatExact, formatPercentChange } from '../../src/format/bytes';
import { withoutFolders } from '../../src/format/commands';
import { toCsv } from '../../src/format/csv';
import { byteMarks } from '../../src/format/marks';
import { formatDate, formatDuration, formatMoment, parseTime, parseTimeOption, timeOption } from '../../src/format/time';

test('a short command has no folders', () => {
  expect(withoutFolders('7 /usr/bin/python3 -c x = a / b /home/me/train.py')).toBe('7 python3 -c x = a / b train.py');
});

describe('bytes are printed as by the command line', () => {
  test.each([
    [0, '0 B'],
    [1023, '1023 B'],
    [1024, '1.0 KiB'],
    [779680, '761.4 KiB'],
    [1048524, '1023.9 KiB'],
    [1048525, '1.0 MiB'], // would be 1024.0 KiB
    [61163076, '58.3 MiB'],
    [1427111936, '1.33 GiB'],
    [-61163076, '-58.3 MiB'],
    [1.5, '2 B'], // growth per step
    [-1.5, '-2 B'],
    [0.4, '0 B'],
    [1075.2, '1.0 KiB'], // 1,075 bytes
  ])('%d is %s', (bytes, text) => expect(formatBytes(bytes)).toBe(text));

  test('changes have a sign, none is empty', () => {
    expect([49332352, -128, 0].map(formatChange)).toEqual(['+47.0 MiB', '-128 B', '']);
    expect([80.657, 0, null].map(formatPercentChange)).toEqual(['+80.7 %', '', '']);
  });

  test('exact numbers have separators', () => {
    expect(formatExact(61163076)).toBe('61,163,076 bytes');
    expect(formatExact(1)).toBe('1 byte');
    expect(formatExact(1.5)).toBe('2 bytes');
    expect(formatCount(-1234)).toBe('-1,234');
  });
});

describe('times', () => {
  test.each([
    [999, '999 ns'],
    [1500, '1.5 us'],
    [14035000, '14.0 ms'],
    [999_960_000, '1.00 s'], // would be 1000.0 ms
    [41151548455, '41.15 s'],
    [96362058740, '1 min 36 s'],
    [3_599_600_000_000, '1 h 00 min'],
  ])('%d ns is %s', (ns, text) => expect(formatDuration(ns)).toBe(text));

  test('a moment has as many digits as the zoom needs', () => {
    expect(formatMoment(96362058740, 1000)).toBe('1 min 36.362059 s');
    expect(formatMoment(119_999_999_999, 1e8)).toBe('2 min 00.0 s');
    expect(formatMoment(5362058740, 1e7)).toBe('5.36 s');
    expect(formatMoment(90e9, 10e9)).toBe('1 min 30 s');
    expect(formatMoment(1500, 1)).toBe('1.500 us');
  });

  test('options are read back', () => {
    expect(parseTimeOption(timeOption(123.4))).toBe(123);
    expect(timeOption(-5)).toBe('0ns');
    expect(parseTimeOption('peak')).toBeNull();
  });

  test('dates are in UTC', () => expect(formatDate(1767225600000000000)).toBe('2026-01-01 00:00:00 UTC'));
});

test('a spreadsheet runs no name of a trace', () => {
  const rows = [['=cmd()', 1], ['a,"b"', null], ['@x\n', 2]];
  expect(toCsv(['name', 'bytes'], rows)).toBe('name,bytes\n\'=cmd(),1\n"a,""b""",\n"\'@x\n",2\n');
});

test.each([['>1MiB', 2 ** 20, false], ['>1MiB', 2 ** 20 + 1, true], ['>= 1 MiB', 2 ** 20, true], ['<4kib', 4095, true], ['=512', 512, true]])(
  'a search for %s and %d bytes', (search, bytes, found) => expect(sizeTest(search)?.(bytes)).toBe(found));
test.each(['', 'fc1', '1MiB', '>', '>x'])('a search for "%s" is for a name', (search) => expect(sizeTest(search)).toBeNull());

test.each([[40_130_000_000, '40.13 s'], [96_362_060_000, '1 min 36.36206 s'], [1500, '1.5us'], [7, '7 ns'], [3_600_000_000_001, '1 h 1ns']])(
  '%d ns may be written as %s', (ns, text) => expect(parseTime(text)).toBe(ns));
test.each(['', '5', 's', '1 min x', '1.5.2s', '1sec', '999999999999999 h'])('"%s" is no time', (text) => expect(parseTime(text)).toBe(null));

test('sizes beside an axis are round', () =>
  expect(byteMarks(37 * 1024 * 1024).map(({ text }) => text)).toEqual(['0 B', '8.0 MiB', '16.0 MiB', '24.0 MiB', '32.0 MiB']));
