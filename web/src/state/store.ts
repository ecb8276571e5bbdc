/* Holds the state, keeps the address in step with it, and tells the views what changed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { formatState, parseState, type State } from './state';

type Listener = (state: State, changed: ReadonlySet<keyof State>) => void;

export class Store {
  private current: State;
  private readonly listeners: Listener[] = [];

  constructor() {
    this.current = parseState(location.hash);
    window.addEventListener('hashchange', () => this.replace(parseState(location.hash)));
  }

  get state(): State {
    return this.current;
  }

  onChange(listener: Listener): void {
    this.listeners.push(listener);
  }

  /* A step that the browser's back button undoes. */
  update(change: Partial<State>): void {
    this.change(change, (address) => history.pushState(null, '', address));
  }

  /* A change that makes no entry in the history: panning, typing. */
  adjust(change: Partial<State>): void {
    this.change(change, (address) => history.replaceState(null, '', address));
  }

  private change(change: Partial<State>, write: (address: string) => void): void {
    const next = { ...this.current, ...change };

    if (formatState(next) === formatState(this.current)) return;
    write(`#${formatState(next)}`);
    this.replace(next);
  }

  private replace(next: State): void {
    const before = this.current;
    const keys = Object.keys(next) as (keyof State)[];
    const changed = new Set(keys.filter((key) => String(before[key]) !== String(next[key])));

    this.current = next;
    if (changed.size > 0) for (const listener of this.listeners) listener(next, changed);
  }
}
