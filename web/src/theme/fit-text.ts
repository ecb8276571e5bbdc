/* Texts that must fit into a part of a drawing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { Surface } from './surface';

/* Cut to the room, with an ellipsis; nothing if fewer letters than `least` would be left. */
export function fitText(surface: Surface, text: string, px: number, room: number, least = 1): string {
  let [shortest, longest] = [0, text.length];

  if (surface.measure(text, px) <= room) return text;
  while (shortest < longest) {
    const middle = Math.ceil((shortest + longest) / 2);
    if (surface.measure(`${text.slice(0, middle)}…`, px) <= room) shortest = middle;
    else longest = middle - 1;
  }
  return shortest >= least ? `${text.slice(0, shortest)}…` : '';
}
