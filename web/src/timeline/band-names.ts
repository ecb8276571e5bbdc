/* Names of bands: modules have long paths, of which they share the beginning.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
const separator = ' > ';

/* What all names of modules begin with, up to a separator: "GPT > " */
export function commonPath(names: readonly string[]): string {
  const paths = names.filter((name) => name.includes(separator));
  const shortest = paths.reduce((least, name) => (name.length < least.length ? name : least), paths[0] ?? '');
  let length = shortest.lastIndexOf(separator) + separator.length;

  while (length >= separator.length && !paths.every((name) => name.startsWith(shortest.slice(0, length))))
    length = shortest.lastIndexOf(separator, length - separator.length - 1) + separator.length;
  return paths.length > 1 && length >= separator.length ? shortest.slice(0, length) : '';
}
