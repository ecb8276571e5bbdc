/* A list of tabs with the usual keys: arrows, Home, End.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { button, h } from './element';

export interface Tab<Name extends string> {
  name: Name;
  text: string;
}

function neighbour(key: string, index: number, count: number): number | null {
  if (key === 'ArrowRight') return (index + 1) % count;
  if (key === 'ArrowLeft') return (index + count - 1) % count;
  if (key === 'Home') return 0;
  return key === 'End' ? count - 1 : null;
}

export class Tabs<Name extends string> {
  readonly element: HTMLElement;
  private readonly buttons: HTMLButtonElement[];

  constructor(
    label: string,
    private readonly tabs: readonly Tab<Name>[],
    panelId: string,
    private readonly chosen: (name: Name) => void,
  ) {
    this.buttons = tabs.map((tab) =>
      button(tab.text, () => chosen(tab.name), { role: 'tab', 'aria-controls': panelId, id: `tab-${tab.name}` }),
    );
    this.element = h('div', { role: 'tablist', class: 'tabs', 'aria-label': label }, ...this.buttons);
    this.element.addEventListener('keydown', (event) => this.key(event));
  }

  select(name: Name): void {
    for (const [i, tab] of this.tabs.entries()) {
      const isSelected = tab.name === name;
      this.buttons[i]?.setAttribute('aria-selected', String(isSelected));
      this.buttons[i]?.setAttribute('tabindex', isSelected ? '0' : '-1');
    }
  }

  private key(event: KeyboardEvent): void {
    const index = this.buttons.indexOf(event.target as HTMLButtonElement);
    const next = index < 0 ? null : neighbour(event.key, index, this.tabs.length);
    const tab = next === null ? undefined : this.tabs[next];

    if (next === null || !tab) return;
    event.preventDefault();
    event.stopPropagation();
    this.chosen(tab.name);
    this.buttons[next]?.focus();
  }
}
