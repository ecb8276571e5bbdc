/* The instant below the timeline: its panels, and which of them is shown.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { ApiError, ask, type Answer } from '../api/client';
import { fileQuery, filtersIgnored } from '../api/filters';
import { excerptOfPage } from '../api/embedded';
import type { Calls, ComparedInstants, Events, Ledger, Table, Tree } from '../api/types';
import { h } from '../dom/element';
import { Latest } from '../dom/latest';
import { remarks } from '../dom/notice';
import { Tabs } from '../dom/tabs';
import { timeOption } from '../format/time';
import { initialState, type Panel, type State } from '../state/state';
import type { Store } from '../state/store';
import { differencePanel, noDifference, tablesPanel } from './difference-panel';
import { hasTimes, instantHeading } from './frame';
import { momentField } from './moment-field';
import type { Moments } from './moments';
import { hasModules } from './call-tree';
import { eventsPanel } from './events-panel';
import { callIciclePanel, iciclePanel } from './icicle-panel';
import { ledgerPanel } from './ledger-panel';
import { tablePanel } from './table-panel';
import { callTreePanel, treePanel } from './tree-panel';

const tabs: readonly { name: Panel; text: string }[] = [
  { name: 'tree', text: 'Tree' },
  { name: 'table', text: 'Table' },
  { name: 'icicle', text: 'Icicle' },
  { name: 'ledger', text: 'Ledger' },
  { name: 'difference', text: 'Difference' },
  { name: 'events', text: 'Events' },
];

const groupsShown = '1000';
const groupsAll = '1000000';
const eventsShown = '200';
const callKeys = ['function', 'file'];

function askTree(state: State, at: string) {
  return ask<Tree>('tree', fileQuery('tree', state, [['at', at], ['min', '0']]));
}

function askTable(state: State, at: string, top: string) {
  return ask<Table>('table', fileQuery('table', state, [['at', at], ['by', state.keys.join(',')], ['top', top]]));
}

/* Small calls are folded: they are no pixel wide. */
function askCalls(state: State, at: string) {
  return ask<Calls>('tree', fileQuery('tree', state, [['at', at], ['of', 'peak'], ['min', '0.05'], ['by', 'callees']]));
}

/* The calls, if the trace has no modules but stacks. */
async function callsInstead(state: State, tree: Tree): Promise<Answer<Calls> | null> {
  if (hasModules(tree) || tree.bytes === 0) return null;
  return askCalls(state, state.at).catch(() => null);
}

/* The picture is worth showing without them. */
function askLines(state: State): Promise<Answer<Table> | null> {
  const keys = { ...state, keys: ['module', 'category', 'line'] };
  return askTable(keys, state.at, groupsAll).catch(() => null);
}

/* The filters are those of tables. */
function askDifference(state: State): Promise<Answer<ComparedInstants>> {
  const options = [['at', `${state.base},${state.at}`], ['by', state.keys.join(',')], ['top', groupsShown]] as const;
  return ask<ComparedInstants>('compare', fileQuery('table', state, options));
}

function askEvents(state: State, atNs: number): Promise<Answer<Events>> {
  return ask<Events>('events', fileQuery('events', state, [['from', timeOption(atNs)], ['limit', eventsShown]]));
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
      h('div', { class: 'instant-head' }, this.tabs.element, this.heading,
        h('div', { class: 'moments' }, momentField(store, 'at', 'Moment'), momentField(store, 'base', 'compared with'))),
      this.content,
    );
  }

  /* For the key that goes to a moment by its name. */
  nameMoment(): void {
    const field = this.element.querySelector<HTMLInputElement>('[name=at]');

    field?.focus();
    field?.select();
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
    return at ? instantHeading(at.data, state.at) : document.createTextNode(''); // the panel says why
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
        return this.treeOf(state);
      case 'table':
        return tablePanel(await askTable({ ...state, keys: await this.keysOf(state) }, at, groupsShown), search, choose);
      case 'icicle':
        return this.icicleOf(state);
      case 'ledger':
        return ledgerPanel(await askLedger(state, await this.timeOf(state)), search);
      case 'difference':
        return base === '' ? noDifference() : this.differenceOf({ ...state, keys: await this.keysOf(state) }, choose);
      case 'events':
        return this.eventsOf(state);
    }
  }

  /* By default a trace without modules is grouped by the functions that requested its memory. */
  private async keysOf(state: State): Promise<string[]> {
    if (state.keys.join() !== initialState.keys.join()) return state.keys;
    const { data } = await askTree(state, state.at);
    return (await callsInstead(state, data)) ? callKeys : state.keys;
  }

  private async treeOf(state: State): Promise<HTMLElement> {
    const tree = await askTree(state, state.at);
    const calls = await callsInstead(state, tree.data);

    return calls ? callTreePanel(calls, state.search) : treePanel(tree, state.search);
  }

  private async icicleOf(state: State): Promise<HTMLElement> {
    const tree = await askTree(state, state.at);
    const calls = await callsInstead(state, tree.data);

    return calls ? callIciclePanel(calls, state.search) : iciclePanel(tree, await askLines(state), state.search);
  }

  /* An exported page has the tables of its moments, and no comparison of them. */
  private async differenceOf(state: State, choose: (keys: string[]) => void): Promise<HTMLElement> {
    const { at, base, search } = state;

    if (await excerptOfPage()) {
      const tables = (keys: string[]) => Promise.all([askTable({ ...state, keys }, base, groupsAll), askTable({ ...state, keys }, at, groupsAll)]);
      const [before, after] = await tables(state.keys).catch(() => tables(this.store.state.keys));
      return tablesPanel(before, after, base, search, choose);
    }
    const [compared, before] = await Promise.all([askDifference(state), askTable({ ...state, keys: ['category'] }, base, groupsShown)]);
    return differencePanel(compared, before.data, base, search, choose);
  }

  private async eventsOf(state: State): Promise<HTMLElement> {
    const { data } = await askTree(state, state.at);
    return eventsPanel(await askEvents(state, data.at_ns), state.search, hasTimes(data.health));
  }

  /* The peak of a ledger is that of the driver's figure; here it is the moment of the other panels. */
  private async timeOf(state: State): Promise<string> {
    return state.at === 'peak' && !(await excerptOfPage()) ? timeOption((await askTree(state, state.at)).data.at_ns) : state.at;
  }
}
