/* The timeline: chart, minimap, legend, keys, and the instant that is chosen in it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { ask, type Answer, type Query } from '../api/client';
import { filesOfJob } from '../api/files';
import { fileQuery, filtersIgnored, unfiltered } from '../api/filters';
import type { Plot, Step, Steps, TraceFile } from '../api/types';
import { h } from '../dom/element';
import { failure, nothing, remarks } from '../dom/notice';
import { Pace } from '../dom/pace';
import { formatCount } from '../format/bytes';
import { formatMoment, timeOption } from '../format/time';
import type { Moments } from '../instant/moments';
import { InstantView } from '../instant/view';
import type { BandKey, State } from '../state/state';
import type { Store } from '../state/store';
import { Chart, type ChartContent } from './chart';
import { Controls } from './controls';
import { actionOf, neighbourStep, type Action } from './keys';
import { Legend } from './legend';
import { Minimap } from './minimap';
import { clampRange, fitToMarks, fitToSteps, pan, reveal, zoom, type Range } from './range';
import { linesOf, resample } from './lines';
import { stackBands } from './stack';

const detailPauseMs = 120; // between two questions while zooming
const instantDelayMs = 180; // after the last arrow key
const zoomStep = 1.5;
const [widthMin, widthMax] = [300, 4000]; // of --width

export class TimelineView {
  readonly element: HTMLElement;
  private readonly chartPlace = h('div', { class: 'chart', tabindex: 0, role: 'application' });
  private readonly remark = h('div');
  private readonly controls: Controls;
  private readonly chart: Chart;
  private readonly legend: Legend;
  private readonly minimap: Minimap;
  private readonly instant: InstantView;
  private overview: Answer<Plot> | null = null; // of the whole run
  private detail: Answer<Plot> | null = null;
  private steps: Step[] = [];
  private fitted: Range = { from: 0, to: 1 };
  private shownLines: number[] = [];
  private moments: Moments = { at: null, base: null }; // in the time of the shown file
  private startNs = 0; // of the shown file on the axis; by rank, time 0 is the start of the job
  private turn = 0;
  private readonly details = new Pace(detailPauseMs);
  private instantTimer = 0;

  constructor(private readonly store: Store, private readonly files: () => readonly TraceFile[]) {
    this.chart = new Chart(this.chartPlace, {
      zoomed: (range) => this.setRange(range),
      chosen: (ns, asBase) => this.choose(ns, asBase),
      wheel: (ns, event) => this.wheel(ns, event),
      hovered: (moment) => this.legend.hover(moment),
      resized: () => this.minimap.align(this.chart.plotArea()),
    });
    this.controls = new Controls((change) => this.stack(change), (action) => this.act(action), () => this.jobFiles().length > 1);
    this.legend = new Legend((i) => this.toggleLine(i), (moment) => this.momentText(moment));
    this.minimap = new Minimap((range) => this.setRange(range));
    this.instant = new InstantView(store, (moments) => this.locate(moments));
    this.chartPlace.setAttribute('aria-label', 'Live memory over time. The arrow keys choose a moment; the keys are listed above.');
    document.addEventListener('keydown', (event) => this.key(event));
    this.element = this.assemble();
  }

  /* Loads the run. Call again when the file, the bands or the device change. */
  async load(): Promise<void> {
    const turn = ++this.turn;
    const { state } = this.store;

    this.element.classList.remove('failed'); // a hidden chart has no width to ask for
    this.instant.show();
    try {
      const steps = this.askSteps(state);
      const plot = await this.askPlot(state, null);
      if (turn !== this.turn) return;
      this.begin(plot);
      this.useSteps(await steps, turn);
    } catch (error) {
      if (turn === this.turn) this.fail(error);
    }
  }

  showInstant(): void {
    this.instant.show();
  }

  showRange(): void {
    this.applyRange(this.range());
  }

  redraw(): void {
    if (this.detail) this.showDetail(this.detail);
    if (this.overview) this.showMinimap(this.overview.data);
    this.instant.show();
  }

  private assemble(): HTMLElement {
    return h(
      'div',
      { class: 'timeline-view' },
      h('section', { class: 'timeline', 'aria-label': 'Timeline' }, this.controls.element, this.remark,
        h('div', { class: 'chart-row' }, h('div', { class: 'chart-column' }, this.chartPlace, this.minimap.canvas), this.legend.element)),
      this.instant.element,
    );
  }

  private askPlot(state: State, range: Range | null): Promise<Answer<Plot>> {
    const width = Math.round(Math.min(Math.max(this.chart.columns(), widthMin), widthMax));
    const span = range ? ([['from', timeOption(range.from)], ['to', timeOption(range.to)]] as const) : [];

    const depth = state.by === 'module' && state.depth !== null ? ([['depth', String(state.depth)]] as const) : [];

    return ask<Plot>('plot', this.plotQuery(state, [['by', state.by], ...depth, ...span, ['width', String(width)]]));
  }

  /* By rank: all traces of the job, with all processes. */
  private plotQuery(state: State, options: Query): Query {
    if (state.by !== 'rank') return fileQuery('plot', state, options);
    const [, ...rest] = fileQuery('plot', { ...state, process: '' }, options);
    return [...this.jobFiles().map(({ id }) => ['file', String(id)] as const), ...rest];
  }

  private jobFiles(): readonly TraceFile[] {
    return filesOfJob(this.files(), this.store.state.file);
  }

  /* The time of a job is not that of a file. */
  private stack(change: { by: BandKey } | { depth: number | null }): void {
    const isOther = 'by' in change && (change.by === 'rank') !== (this.store.state.by === 'rank');
    this.store.update({ ...change, ...(isOther ? { from: null, to: null } : {}) });
  }

  /* The picture is worth showing without them. */
  private askSteps(state: State): Promise<Step[]> {
    return ask<Steps>('steps', fileQuery('steps', unfiltered(state))).then(({ data }) => data.steps, () => []);
  }

  /* Steps take longer to find than the picture; until then their marks say where they are. */
  private begin(plot: Answer<Plot>): void {
    this.overview = plot;
    this.startNs = plot.data.traces?.[this.jobFiles().findIndex(({ id }) => id === this.store.state.file)]?.start_ns ?? 0;
    this.steps = [];
    this.fitted = this.fitToPlot(plot.data);
    this.shownLines = linesOf(plot.data).flatMap((line, i) => (line.isShownFirst ? [i] : []));
    this.showDetail(plot);
    this.showMinimap(plot.data);
    this.applyRange(this.range());
  }

  private useSteps(steps: Step[], turn: number): void {
    if (turn !== this.turn) return;
    this.steps = steps;
    if (!this.overview?.data.traces) this.fitted = fitToSteps(steps, this.bounds());
    this.applyRange(this.range());
  }

  /* The marks of a job are those of its first rank; others may end later. */
  private fitToPlot(plot: Plot): Range {
    const range = fitToMarks(plot, this.bounds());
    return plot.traces ? { from: range.from, to: this.bounds().to } : range;
  }

  private fail(error: unknown): void {
    this.overview = null;
    this.detail = null;
    this.chart.clear();
    this.element.classList.add('failed');
    this.remark.replaceChildren(failure(error));
  }

  private bounds(): Range {
    return { from: this.overview?.data.from_ns ?? 0, to: Math.max(this.overview?.data.end_ns ?? 1, 1) };
  }

  private range(): Range {
    const { from, to } = this.store.state;

    if (from !== null && to !== null) return clampRange({ from, to }, this.bounds());
    return this.fitted;
  }

  private setRange(range: Range): void {
    const { from, to } = clampRange(range, this.bounds());
    this.store.adjust({ from, to });
  }

  /* The loaded numbers at once, finer ones as soon as the user pauses. */
  private applyRange(range: Range): void {
    this.chart.setRange(range);
    this.minimap.setRange(range);
    this.details.call(() => void this.loadDetail(range));
  }

  private async loadDetail(range: Range): Promise<void> {
    const turn = this.turn;
    const { from, to } = this.bounds();
    const isWhole = range.from === from && range.to === to;
    const answer = isWhole ? this.overview : await this.askPlot(this.store.state, range).catch(() => null);
    const now = this.range();

    if (answer && turn === this.turn && now.from === range.from && now.to === range.to) this.showDetail(answer);
  }

  private showDetail(answer: Answer<Plot>): void {
    const plot = answer.data;
    const content: ChartContent = { plot, layers: stackBands(plot), lines: linesOf(plot), shown: this.shownLines };

    this.detail = answer;
    this.chart.show(content, this.range());
    this.chart.setMoments(this.onAxis(this.moments));
    this.legend.show(content);
    this.controls.show(answer, content, this.store.state);
    this.remark.replaceChildren(...this.sentences(plot));
  }

  private sentences(plot: Plot): Node[] {
    const list = plot.traces ? this.jobSentences(plot.traces.length) : filtersIgnored('plot', this.store.state);

    if (plot.device !== null && this.store.state.device === '') list.push(`The bands show ${plot.device}.`);
    if (!plot.has_times) list.push('This trace has no times: the axis counts its events.');
    if (plot.marks_left_out > 0) list.push(`${formatCount(plot.marks_left_out)} marks are left out; zoom in to see them.`);
    const empty = plot.peak_bytes === 0 && plot.from_ns === this.bounds().from && plot.to_ns === plot.end_ns;
    const nodes = [remarks(list), empty ? nothing('No allocation was recorded; only samples can be shown.') : null];
    return nodes.filter((node) => node !== null);
  }

  private jobSentences(count: number): string[] {
    const shown = this.files().find(({ id }) => id === this.store.state.file)?.name ?? '';
    const process = this.store.state.process !== '' ? ['Not filtered by process: a band has all processes of a rank.'] : [];

    return [...process, `Ranks of ${formatCount(count)} ${count === 1 ? 'trace' : 'traces'}, by their wall clocks. The upper edge adds up the highest moment of each rank in a column. The moment below is one of ${shown}.`];
  }

  private showMinimap(plot: Plot): void {
    const bands = stackBands(plot).at(-1)?.tops;
    const [line] = linesOf(plot);
    const sampled = line ? resample(plot.times_ns, line).map((bytes) => bytes ?? 0) : [];
    this.minimap.align(this.chart.plotArea());
    this.minimap.show({ bounds: this.bounds(), times: plot.times_ns, bytes: bands ?? sampled }, this.range());
  }

  private momentText(moment: number): string {
    const { data } = this.detail as Answer<Plot>;
    const time = data.times_ns[moment] ?? 0;
    const resolution = (data.to_ns - data.from_ns) / Math.max(data.times_ns.length, 1);

    return data.has_times ? formatMoment(time, resolution) : `event ${formatCount(time)}`;
  }

  private toggleLine(index: number): void {
    const without = this.shownLines.filter((i) => i !== index);

    this.shownLines = without.length < this.shownLines.length ? without : [...without, index].sort((a, b) => a - b);
    if (this.detail) this.showDetail(this.detail);
  }

  private locate(moments: Moments): void {
    this.moments = moments;
    this.chart.setMoments(this.onAxis(moments));
  }

  private onAxis({ at, base }: Moments): Moments {
    return { at: at === null ? null : at + this.startNs, base: base === null ? null : base + this.startNs };
  }

  private choose(ns: number, asBase: boolean): void {
    const time = timeOption(Math.max(Math.min(ns, this.bounds().to) - this.startNs, 0));

    if (asBase) this.store.update({ base: time, panel: 'difference' });
    else this.store.update({ at: time });
  }

  private wheel(ns: number, event: WheelEvent): void {
    const range = this.range();
    const isSideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);

    event.preventDefault();
    if (isSideways) this.setRange(pan(range, event.deltaX / 1000, this.bounds()));
    else this.setRange(zoom(range, Math.exp(event.deltaY / 400), ns, this.bounds()));
  }

  private key(event: KeyboardEvent): void {
    const action = this.listensTo(event) ? actionOf(event) : null;

    if (!action || !this.overview) return;
    event.preventDefault();
    this.act(action);
  }

  /* Letters work everywhere but in a control; arrows scroll the page unless the chart has the focus. */
  private listensTo(event: KeyboardEvent): boolean {
    const { activeElement } = document;
    const isFree = activeElement === document.body || activeElement?.id === 'main';

    if (!this.element.isConnected) return false;
    return activeElement === this.chartPlace || (isFree && event.key.length === 1);
  }

  private act(action: Action): void {
    const range = this.range();
    const bounds = this.bounds();
    const middle = (range.from + range.to) / 2;
    const { at } = this.onAxis(this.moments);
    const center = at !== null && at >= range.from && at <= range.to ? at : middle;

    switch (action) {
      case 'earlier': return this.step(-1);
      case 'later': return this.step(1);
      case 'pan-left': return this.setRange(pan(range, -0.5, bounds));
      case 'pan-right': return this.setRange(pan(range, 0.5, bounds));
      case 'zoom-in': return this.setRange(zoom(range, 1 / zoomStep, center, bounds));
      case 'zoom-out': return this.setRange(zoom(range, zoomStep, center, bounds));
      case 'fit': return this.store.update({ from: null, to: null });
      case 'everything': return this.setRange(bounds);
      case 'peak': case 'end': case 'oom': return this.store.update({ at: action });
      case 'next-step': return this.goToStep(true);
      case 'previous-step': return this.goToStep(false);
      case 'name-moment': return this.instant.nameMoment();
      case 'set-base': return this.store.update({ base: this.store.state.at, panel: 'difference' });
    }
  }

  /* One hundredth of the visible part at a time; the instant is loaded when the key is released. */
  private step(direction: number): void {
    const range = this.range();
    const distance = (range.to - range.from) / 100;
    const { to } = this.bounds();
    const now = this.moments.at ?? Math.max(range.from - this.startNs, 0);
    const at = Math.min(Math.max(now + direction * distance, 0), to - this.startNs);

    this.locate({ ...this.moments, at });
    this.setRange(reveal(range, at + this.startNs, this.bounds()));
    clearTimeout(this.instantTimer);
    this.instantTimer = window.setTimeout(() => this.store.adjust({ at: timeOption(at) }), instantDelayMs);
  }

  private goToStep(forward: boolean): void {
    const number = neighbourStep(this.steps, this.moments.at ?? 0, forward);
    if (number !== null) this.store.update({ at: `step:${number}` });
  }
}
