/* Distances between the ticks of an axis.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

const second = 1e9;

function decimalSteps(from: number, to: number): number[] {
  const steps: number[] = [];

  for (let power = from; power < to; power *= 10) steps.push(power, 2 * power, 5 * power);
  return steps;
}

/* In ns: decimal below 10 s, then parts of minutes and hours. */
export const timeIncrements: readonly number[] = [
  ...decimalSteps(1, 10 * second),
  ...[10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400].map((s) => s * second),
];

export const countIncrements: readonly number[] = decimalSteps(1, 1e15);

/* Round numbers of B, KiB, MiB, …; not 500, whose double is no round number of the next unit. */
export const byteIncrements: readonly number[] = [0, 10, 20, 30, 40, 50].flatMap((shift) =>
  [1, 2, 5, 10, 20, 50, 128, 256, 512].map((n) => n * 2 ** shift),
);
