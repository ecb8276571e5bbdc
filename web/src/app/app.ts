/* Puts the page together: header, tabs of views, notices, and the view that the state names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { ask, forgetAnswers } from '../api/client';
import { excerptOfPage } from '../api/embedded';
import { listFiles, sendFile, type Change } from '../api/files';
import { fileQuery, unfiltered } from '../api/filters';
import type { FileState, Summary, TraceFile } from '../api/types';
import { BlocksView } from '../blocks/view';
import { button, h } from '../dom/element';
import { replaceContent } from '../dom/focus';
import { Latest } from '../dom/latest';
import { failure } from '../dom/notice';
import { Tabs } from '../dom/tabs';
import { formatCount } from '../format/bytes';
import { initialState, type State, type View } from '../state/state';
import type { Store } from '../state/store';
import { onThemeChange } from '../theme/theme';
import { TimelineView } from '../timeline/view';
import { compareView } from '../views/compare';
import { failed } from '../views/frame';
import { healthSentences } from '../views/health';
import { leaksView } from '../views/leaks';
import { oomView } from '../views/oom';
import { processesView } from '../views/processes';
import { ranksView } from '../views/ranks';
import { stacksView } from '../views/stacks';
import { stepsView } from '../views/steps';
import { summaryView } from '../views/summary';
import { takeDrops } from './drop';
import { excerptNotice } from './excerpt-notice';
import { Follower } from './follow';
import { header } from './header';
import { listenForMoments } from './moment-keys';
import { startPage } from './start-page';

const tabs: readonly { name: View; text: string }[] = [
  { name: 'timeline', text: 'Timeline' },
  { name: 'blocks', text: 'Blocks' },
  { name: 'stacks', text: 'Stacks' },
  { name: 'summary', text: 'Summary' },
  { name: 'processes', text: 'Processes' },
  { name: 'steps', text: 'Steps' },
  { name: 'leaks', text: 'Leaks' },
  { name: 'oom', text: 'Out of memory' },
  { name: 'compare', text: 'Compare' },
  { name: 'ranks', text: 'Ranks' },
];

function titleOf(view: View): string {
  return tabs.find(({ name }) => name === view)?.text ?? '';
}

type Changed = ReadonlySet<keyof State>;

const timelineReloads: readonly (keyof State)[] = ['view', 'file', 'salvage', 'by', 'depth', 'device', 'process'];
const blocksReloads: readonly (keyof State)[] = ['view', 'file', 'salvage', 'layout', 'device', 'process', 'search', 'at'];
const instantReloads: readonly (keyof State)[] = ['at', 'base', 'panel', 'keys', 'search'];

function touches(changed: Changed, keys: readonly (keyof State)[]): boolean {
  return keys.some((key) => changed.has(key));
}

function place(id: string): HTMLElement {
  return document.getElementById(id) ?? document.body.appendChild(h('div', { id }));
}

export class App {
  private readonly main = place('main');
  private readonly latest = new Latest(this.main);
  private readonly tabs: Tabs<View>;
  private readonly timeline: TimelineView;
  private readonly follower = new Follower((change, state) => this.follow(change, state), (error) => this.lose(error));
  private readonly blocks: BlocksView;
  private files: readonly TraceFile[] = [];
  private shown = -1; // the file whose header is on the page
  private isEmbedded = false;

  constructor(private readonly store: Store) {
    this.tabs = new Tabs('Views', tabs, 'main', (view) => store.update({ view, ...this.rangeFor(view) }));
    this.timeline = new TimelineView(store, () => this.files);
    this.blocks = new BlocksView(store);
    place('views').append(this.tabs.element);
    place('skip').addEventListener('click', (event) => this.skip(event));
    store.onChange((_state, changed) => this.changed(changed));
    onThemeChange(() => this.restyle());
    listenForMoments(store);
  }

  async start(): Promise<void> {
    const excerpt = await excerptOfPage();

    try {
      this.files = await listFiles();
    } catch (error) {
      this.main.replaceChildren(failure(error));
      return;
    }
    this.isEmbedded = excerpt !== null;
    if (excerpt) place('notices').before(excerptNotice(excerpt));
    else takeDrops((file) => void this.take(file));
    this.show();
    await this.openFile();
  }

  /* The range of a timeline by rank is in the time of the job, not of the file that other views show. */
  private rangeFor(view: View): Partial<State> {
    return this.store.state.by === 'rank' && view !== 'timeline' ? { from: null, to: null } : {};
  }

  private file(): TraceFile | undefined {
    return this.files.find(({ id }) => id === this.store.state.file);
  }

  /* A file that was dropped or chosen: the server stores it and imports it if it is no trace. */
  private async take(file: File): Promise<void> {
    const notices = place('notices');

    notices.replaceChildren(h('p', { class: 'health', role: 'status' }, `Reading ${file.name} …`));
    try {
      const id = await sendFile(file);
      this.files = await listFiles();
      notices.replaceChildren();
      this.store.update({ ...initialState, file: id });
    } catch (error) {
      notices.replaceChildren(failure(error));
    }
  }

  /* The file has changed: everything is asked for again. */
  private async follow(change: Change, state: FileState): Promise<void> {
    const status = place('recording');

    status.textContent = state.recording ? 'recording' : change === 'replaced' ? 'The file has changed: this is its new content.' : '';
    forgetAnswers();
    await this.openFile();
    if (this.store.state.view === 'timeline') await this.timeline.load();
    else this.show();
  }

  private lose(error: unknown): void {
    place('recording').textContent = error instanceof Error ? error.message : String(error);
  }

  /* The link would replace the state in the address. */
  private skip(event: Event): void {
    event.preventDefault();
    this.main.focus();
  }

  private changed(changed: Changed): void {
    if (touches(changed, ['file', 'salvage'])) void this.openFile();
    if (this.store.state.view === 'timeline') this.timelineChanged(changed);
    else if (this.store.state.view === 'blocks') this.blocksChanged(changed);
    else this.show();
  }

  private timelineChanged(changed: Changed): void {
    if (touches(changed, timelineReloads)) return this.show();
    if (touches(changed, ['from', 'to'])) this.timeline.showRange();
    if (touches(changed, instantReloads)) this.timeline.showInstant();
  }

  private blocksChanged(changed: Changed): void {
    if (touches(changed, blocksReloads)) return this.show();
    if (touches(changed, ['from', 'to'])) this.blocks.showRange();
    if (touches(changed, ['block'])) this.blocks.showDetail();
  }

  /* The header is complete once the summary names devices and processes. */
  private async openFile(): Promise<void> {
    const { state } = this.store;
    const file = this.file();

    document.title = file ? `${file.name} – memledger` : 'memledger';
    if (!file) return;
    if (!this.isEmbedded) this.follower.follow(state.file);
    if (this.shown !== state.file) {
      this.showHeader(null, []);
      place('recording').textContent = '';
    }
    this.shown = state.file;
    try {
      const { data } = await ask<Summary>('summary', fileQuery('summary', unfiltered(state)));
      if (this.store.state.file === state.file) this.showHeader(data, this.healthOf(data));
    } catch (error) {
      if (this.store.state.file === state.file) this.showHeader(null, this.rescueOf(error));
    }
  }

  private showHeader(summary: Summary | null, notices: HTMLElement[]): void {
    replaceContent(place('header'), ...header(this.store, this.files, summary));
    replaceContent(place('notices'), ...notices);
  }

  private healthOf(data: Summary): HTMLElement[] {
    return [...this.refusalsOf(data), ...healthSentences(data.health).map((text) => h('p', { class: 'health' }, text))];
  }

  private refusalsOf({ out_of_memory: count }: Summary): HTMLElement[] {
    if (count === 0) return [];
    const text = count === 1 ? 'An allocation was refused. ' : `${formatCount(count)} allocations were refused. `;
    return [h('p', { class: 'health refused' }, text, button('Out of memory', () => this.store.update({ view: 'oom' })))];
  }

  /* The command names the option that reads the rest of a damaged trace. */
  private rescueOf(error: unknown): HTMLElement[] {
    if (!(error instanceof Error) || !error.message.includes('--salvage')) return [];
    const skip = button('Skip damaged blocks', () => this.store.update({ salvage: true }), { title: '--salvage' });
    return [h('p', { class: 'health' }, 'This trace is damaged. ', skip)];
  }

  private show(): void {
    const { state } = this.store;

    this.tabs.select(state.view);
    this.main.setAttribute('aria-labelledby', `tab-${state.view}`);
    document.body.classList.toggle('without-file', !this.file());
    if (this.file()) void this.showView(state.view);
    else this.main.replaceChildren(startPage(this.files, (file) => this.store.update({ ...initialState, file }), (file) => void this.take(file)));
  }

  /* The timeline asks for as many moments as fit into its width, once it has one. */
  private async showView(view: View): Promise<void> {
    const isShown = await this.latest.show(() => this.makeView(view).catch((error: unknown) => failed(titleOf(view), failure(error))));
    if (isShown && view === 'timeline') await this.timeline.load();
    if (isShown && view === 'blocks') this.blocks.load();
  }

  private makeView(view: View): Promise<HTMLElement> {
    switch (view) {
      case 'timeline': return Promise.resolve(this.timeline.element);
      case 'blocks': return Promise.resolve(this.blocks.element);
      case 'stacks': return stacksView(this.store);
      case 'processes': return processesView(this.store);
      case 'summary': return summaryView(this.store);
      case 'steps': return stepsView(this.store);
      case 'leaks': return leaksView(this.store);
      case 'oom': return oomView(this.store);
      case 'compare': return compareView(this.store, this.files);
      case 'ranks': return ranksView(this.store, this.files);
    }
  }

  private restyle(): void {
    if (this.store.state.view === 'timeline') this.timeline.redraw();
    else if (this.store.state.view === 'blocks') this.blocks.redraw();
    else this.show(); // flame graphs
  }
}
