/* Makes elements. Texts become text nodes, never markup, whatever a trace contains.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

export type Child = Node | string | null;
type Attributes = Record<string, string | number | boolean | null>;

function setAttribute(element: Element, name: string, value: string | number | boolean | null): void {
  if (value === null || value === false) return;
  element.setAttribute(name, value === true ? '' : String(value));
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);

  for (const [name, value] of Object.entries(attributes)) setAttribute(element, name, value);
  element.append(...children.filter((child) => child !== null));
  return element;
}

export function button(text: string, action: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const element = h('button', { type: 'button', ...attributes }, text);

  element.addEventListener('click', action);
  return element;
}

export interface Choice {
  value: string;
  text: string;
}

export function select(
  label: string,
  choices: readonly Choice[],
  chosen: string,
  action: (value: string) => void,
): HTMLLabelElement {
  const list = h('select', { name: label });

  for (const choice of choices) list.append(h('option', { value: choice.value }, choice.text));
  list.value = chosen;
  list.addEventListener('change', () => action(list.value));
  return h('label', { class: 'field' }, h('span', {}, label), list);
}

/* The chosen value of select(). */
export function setChoice(field: HTMLLabelElement, value: string): void {
  const list = field.querySelector('select');
  if (list) list.value = value;
}
