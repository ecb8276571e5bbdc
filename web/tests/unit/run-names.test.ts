/* run-names.test.ts: Runs in a comparison.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { expect, test } from 'vitest';
import type { ComparedRun } from '../../src/api/types';
import { namedRuns } from '../../src/views/run-names';

function runsOf(...names: string[]): ComparedRun[] {
  return names.map((name) => ({ name, peak_bytes: 1, peak_bytes_difference: 0, peak_bytes_percent: 0, never_freed_bytes: 0, allocations: 1, duration_ns: 1 }));
}

test.each([
  ['short ones stay', ['direct', 'fft'], ['vgg19-direct.mled', 'vgg19-fft.mled'], ['direct', 'fft']],
  ['bare numbers get the names of files', ['0', '1'], ['rank-0.mled', 'rank-1.mled'], ['rank-0', 'rank-1']],
  ['one number is enough', ['3', 'best'], ['run-3.mled', 'run-best.mled'], ['run-3', 'run-best']],
  ['an unknown file changes nothing', ['0', '1'], ['rank-0.mled'], ['rank-0', '1']],
])('%s', (_, names, files, expected) => expect(namedRuns(runsOf(...names), files).map(({ name }) => name)).toEqual(expected));
