/* Names of the runs that are compared.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { ComparedRun } from '../api/types';

/* The command leaves out the words that all file names share. Where that leaves bare numbers, which a table of
 * numbers does not tell from its own, the runs have the names of their files: "rank-0" instead of "0".
 * @fileNames  in the order of the runs */
export function namedRuns(runs: readonly ComparedRun[], fileNames: readonly string[]): ComparedRun[] {
  const areNumbers = runs.some(({ name }) => /^\d+$/.test(name));

  return runs.map((run, i) => ({ ...run, name: (areNumbers && fileNames[i]?.replace(/\.mled$/, '')) || run.name }));
}
