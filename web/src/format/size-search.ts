/* Sizes in the search field: ">1MiB", "<= 4 KiB", "=512B".
 *
 * SPDX-License-Identifier: Apache-2.0
 */

const units: Record<string, number> = { b: 1, kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30, tib: 2 ** 40 };

type Test = (bytes: number) => boolean;

const tests: Record<string, (limit: number) => Test> = {
  '>': (limit) => (bytes) => bytes > limit,
  '>=': (limit) => (bytes) => bytes >= limit,
  '<': (limit) => (bytes) => bytes < limit,
  '<=': (limit) => (bytes) => bytes <= limit,
  '=': (limit) => (bytes) => bytes === limit,
};

/* @return null: the text is a name */
export function sizeTest(search: string): Test | null {
  const match = /^([<>]=?|=)\s*(\d+(?:\.\d+)?)\s*(b|kib|mib|gib|tib)?$/i.exec(search.trim());
  const [, sign, number, unit] = match ?? [];

  if (!sign || !number) return null;
  return tests[sign]?.(Number(number) * (units[(unit ?? 'b').toLowerCase()] ?? 1)) ?? null;
}
