/* Texts in drawings.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { expect, test } from 'vitest';
import { fitText } from '../../src/theme/fit-text';
import type { Surface } from '../../src/theme/surface';

const surface = { measure: (text: string) => 10 * text.length } as unknown as Surface;

test('a text is cut to its room, and left out where little of it would remain', () => {
  expect(fitText(surface, 'forward', 10, 70)).toBe('forward');
  expect(fitText(surface, 'forward', 10, 60)).toBe('forwa…');
  expect(fitText(surface, 'forward', 10, 20)).toBe('f…');
  expect(fitText(surface, 'forward', 10, 10)).toBe('');
  expect(fitText(surface, 'forward', 10, 30, 3)).toBe('');
  expect(fitText(surface, 'forward', 10, 40, 3)).toBe('for…');
});
