/* Replaces content without taking the focus away from the keyboard.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* A control that had the focus keeps it if the new content has one of its name. */
export function replaceContent(place: HTMLElement, ...content: Node[]): void {
  const name = place.contains(document.activeElement) ? document.activeElement?.getAttribute('name') : null;

  place.replaceChildren(...content);
  if (name) place.querySelector<HTMLElement>(`[name="${CSS.escape(name)}"]`)?.focus();
}
