/* The instant below the timeline: its panels, and which of them is shown.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { ApiError, ask, type Answer } from '../api/client';
import { fileQuery, filtersIgnored } from '../api/filters';
import type { Ledger, Table, Tree } from '../api/types';
import { h } from '../dom/element';
import { Latest } from '../dom/latest';
import { remarks } from '../dom/notice';
import { Tabs } from '../dom/tabs';
import type { Panel, State } from '../state/state';
import type { Store } from '../state/store';
import { differencePanel, noDifference } from './difference-panel';
import { instantHeading } from './frame';
import type { Moments } from './moments';
import { iciclePanel } from './icicle-panel';
import { ledgerPanel } from './ledger-panel';
import { tablePanel } from './table-panel';
import { treePanel } from './tree-panel';

const tabs: readonly { name: Panel; text: string }[] = [
  { name: 'tree', text: 'Tree' },
  { name: 'table', text: 'Table' },
  { name: 'icicle', text: 'Icicle' },
  { name: 'ledger', text: 'Ledger' },
  { name: 'difference', text: 'Difference' },
];

const groupsShown = '1000';
const groupsAll = '1000000';

function askTree(state: State, at: string) {
  return ask<Tree>('tree', fileQuery('tree', state, [['at', at], ['min', '0']]));
}

function askTable(state: State, at: string, top: string) {
  return ask<Table>('table', fileQuery('table', state, [['at', at], ['by', state.keys.join(',')], ['top', top]]));
}

/* A trace without GPU memory has only the ledger of the host, which the command shows if asked for. */
async function askLedger(state: State, at: string): Promise<Answer<Ledger>> {
  const options = [['at', at]] as const;

  try {
    return await ask<Ledger>('ledger', fileQuery('ledger', state, options));
  } catch (error) {
    if (!(error instanceof ApiError) || !error.message.includes('--device cpu')) throw error;
    return ask<Ledger>('ledger', fileQuery('ledger', { ...state, device: 'cpu' }, options));
  }
}

export class InstantView {
  readonly element: HTMLElement;
  private readonly heading = h('div', { 'aria-live': 'polite' });
  private readonly content = h('div', { id: 'instant-panel', role: 'tabpanel' });
  private readonly tabs: Tabs<Panel>;
  private readonly latest = new Latest(this.content);
  private readonly latestHeading = new Latest(this.heading);

  constructor(
    private readonly store: Store,
    private readonly located: (moments: Moments) => void,
  ) {
    this.tabs = new Tabs('The chosen moment as', tabs, 'instant-panel', (panel) => store.update({ panel }));
    this.element = h(
      'section',
      { class: 'instant', 'aria-label': 'The chosen moment' },
      h('div', { class: 'instant-head' }, this.tabs.element, this.heading),
      this.content,
    );
  }

  show(): void {
    const { state } = this.store;

    this.tabs.select(state.panel);
    this.content.setAttribute('aria-labelledby', `tab-${state.panel}`);
    void this.latestHeading.show(() => this.makeHeading(state));
    void this.latest.show(() => this.makePanel(state));
  }

  /* Also tells the timeline where the moments are: only the command knows the time of "peak". */
  private async makeHeading(state: State): Promise<Node> {
    const at = await askTree(state, state.at).catch(() => null);
    const base = state.base === '' ? null : await askTree(state, state.base).catch(() => null);

    this.located({ at: at?.data.at_ns ?? null, base: base?.data.at_ns ?? null });
    return at ? instantHeading(at.data) : document.createTextNode(''); // the panel says why
  }

  private async makePanel(state: State): Promise<Node> {
    const verb = state.panel === 'icicle' ? 'tree' : state.panel === 'difference' ? 'table' : state.panel;
    const body = await this.panelOf(state);

    return h('div', {}, remarks(filtersIgnored(verb, state)), body);
  }

  private async panelOf(state: State): Promise<HTMLElement> {
    const { search, at, base } = state;
    const choose = (keys: string[]) => this.store.update({ keys });

    switch (state.panel) {
      case 'tree':
        return treePanel(await askTree(state, at), search);
      case 'table':
        return tablePanel(await askTable(state, at, groupsShown), search, choose);
      case 'icicle':
        return iciclePanel(await askTree(state, at), search);
      case 'ledger':
        return ledgerPanel(await askLedger(state, at), search);
      case 'difference':
        if (base === '') return noDifference();
        return differencePanel(await askTable(state, base, groupsAll), await askTable(state, at, groupsAll), search, choose);
    }
  }
}
