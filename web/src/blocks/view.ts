/* Every block over time: stacked, or at its address; and the segments of an instant.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { Tile } from '../api/types';
import { ask, type Answer } from '../api/client';
import { excerptOfPage } from '../api/embedded';
import { fileQuery, filtersIgnored, unfiltered } from '../api/filters';
import type { Steps, Summary } from '../api/types';
import { categoryLegend } from '../dom/category-legend';
import { button, h, select, setChoice } from '../dom/element';
import { Latest } from '../dom/latest';
import { nothing, remarks } from '../dom/notice';
import { Pace } from '../dom/pace';
import { saveButtons, type Picture } from '../dom/save';
import { toolbar } from '../dom/toolbar';
import { formatBytes, formatCount } from '../format/bytes';
import { formatDuration, formatMoment, parseTimeOption, timeOption } from '../format/time';
import { hasTimes } from '../instant/frame';
import { layouts, parseBlock, type BlockLayout, type State } from '../state/state';
import type { Store } from '../state/store';
import { words } from '../theme/categories';
import { beginCanvas } from '../theme/surface';
import { clampRange, fitToSteps, pan, zoom, type Range } from '../timeline/range';
import { addressLayout, hex } from './addresses';
import { blockDetail, rowOf, type BlockRows } from './detail';
import { blockAt, blockName, drawBlocks, frameBlock, isUniform, timeAt, type StepStart, type View } from './picture';
import { categoriesOf, SegmentMap, segmentsCsv, segmentsHeading, type Fragmentation } from './segments';
import { stackedLayout } from './stacked';
import { largestBlocks } from './largest';
import { nameOf, tileCsv } from './tile';
import { step, type Direction, type Place } from './walk';

const tilePauseMs = 150; // between two questions while zooming
const blocksMax = '20000';
const segmentsMax = '1000';
const dragMinPx = 5;
const zoomStep = 1.5;
const directions: Readonly<Record<string, Direction>> = { ArrowLeft: 'earlier', ArrowRight: 'later', ArrowUp: 'above', ArrowDown: 'below' };
const hint = 'Point at a block, or press ← → ↑ ↓, to name it; a click or Enter shows its stack and neighbours; drag to zoom.';

const layoutTexts: Record<BlockLayout, string> = {
  stacked: 'lifetimes, stacked', address: 'addresses over time', segments: 'segments and holes',
};

export class BlocksView {
  readonly element: HTMLElement;
  private readonly canvas = h('canvas', { class: 'blocks', tabindex: 0, role: 'img' });
  private readonly overlay = h('canvas', { class: 'blocks-overlay', 'aria-hidden': true });
  private readonly status = h('p', { class: 'icicle-status', role: 'status' }, hint);
  private readonly tools = h('div', { class: 'commands' });
  private readonly remark = h('div');
  private readonly legend = h('div', { class: 'legend-line' });
  private readonly detail = h('div');
  private readonly largest = h('div');
  private readonly body = h('div');
  private readonly latestDetail = new Latest(this.detail);
  private readonly latestBody = new Latest(this.body);
  private readonly chooser: HTMLLabelElement;
  private view: View | null = null;
  private bounds: Range = { from: 0, to: 1 };
  private fitted: Range = { from: 0, to: 1 };
  private steps: readonly StepStart[] = [];
  private hovered = -1;
  private place: Place | null = null; // of the keyboard
  private dragFrom: number | null = null;
  private turn = 0;
  private command = '';
  private isExcerpt = false;
  private readonly tiles = new Pace(tilePauseMs);

  constructor(private readonly store: Store) {
    const choices = layouts.map((value) => ({ value, text: layoutTexts[value] }));

    this.chooser = select('Show', choices, store.state.layout, (layout) => store.update({ layout: layout as BlockLayout }));
    this.element = h('section', { class: 'view', 'aria-label': 'Blocks' },
      h('div', { class: 'bar-line' }, this.chooser,
        button('Fit to steps', () => store.update({ from: null, to: null }), { title: 'Key 0' }),
        button('Whole run', () => this.setRange(this.bounds), { title: 'Key a' }), this.tools),
      this.remark, this.body);
    this.canvas.setAttribute('aria-label', 'Blocks over time. Arrows go from block to block and name it, Enter shows it. + and - zoom, Page Up and Page Down move. A table of the largest blocks follows.');
    this.listen();
  }

  /* Loads the run. Call again when the file, the layout or a filter changes. */
  load(): void {
    const { state } = this.store;

    setChoice(this.chooser, state.layout);
    this.tools.replaceChildren();
    this.remark.replaceChildren();
    if (state.layout === 'segments') void this.latestBody.show(() => this.makeSegments(state));
    else void this.latestBody.show(() => this.makePicture(state));
  }

  showRange(): void {
    const range = this.range();

    if (this.view) this.show({ ...this.view, range });
    this.tiles.call(() => void this.loadTile());
  }

  showDetail(): void {
    const { state } = this.store;
    const choice = parseBlock(state.block);

    this.drawOverlay();
    if (!choice) return this.detail.replaceChildren();
    void this.latestDetail.show(async () => {
      const options = [['at', choice.at], ['address', hex(choice.address)], ['process', choice.pid]] as const;
      const answer = await ask<BlockRows>('blocks', fileQuery('blocks', { ...state, process: '' }, options)).catch((error: unknown) => this.fromPicture(error));
      return blockDetail(answer, {
        address: choice.address,
        momentText: (ns) => this.momentText(ns),
        choose: (address) => this.store.update({ block: `${address}@${choice.at}@${choice.pid}` }),
        showMoment: () => this.store.update({ view: 'timeline', at: choice.at }),
      });
    });
  }

  /* An exported page has no more facts than its picture. */
  private fromPicture(error: unknown): Answer<BlockRows> {
    const block = this.view ? this.chosen(this.view.tile) : -1;

    if (!this.view || !this.isExcerpt || block < 0) throw error;
    return { data: { ...this.view.tile, list: [rowOf(this.view.tile, block)] }, command: this.command };
  }

  redraw(): void {
    if (this.view) this.show(this.view);
  }

  private async makeSegments(state: State): Promise<Node> {
    const options = [['at', state.at], ['top', segmentsMax], ['blocks', '']] as const;
    const answer = await ask<Fragmentation>('fragmentation', fileQuery('fragmentation', state, options));
    const map = new SegmentMap(answer, state.search);

    this.tools.replaceChildren(toolbar([answer.command], { csv: () => segmentsCsv(answer.data), json: () => JSON.stringify(answer.data, null, 2), saves: saveButtons(map.picture()) }));
    this.remark.replaceChildren(...[remarks(filtersIgnored('fragmentation', state))].filter((node) => node !== null));
    return h('div', {}, segmentsHeading(answer.data), h('div', { class: 'legend-line' }, ...categoryLegend(categoriesOf(answer.data))), map.status, map.canvas);
  }

  private async makePicture(state: State): Promise<Node> {
    const turn = ++this.turn;
    this.isExcerpt = (await excerptOfPage()) !== null;
    const [summary, steps] = await Promise.all([
      ask<Summary>('summary', fileQuery('summary', unfiltered(state))),
      ask<Steps>('steps', fileQuery('steps', unfiltered(state))),
    ]);

    this.bounds = { from: summary.data.health.window?.begin_ns ?? 0, to: Math.max(summary.data.duration_ns, 1) };
    this.steps = steps.data.steps;
    this.fitted = fitToSteps(steps.data.steps, this.bounds);
    const answer = await this.askTile(state);
    if (turn === this.turn) this.showTile(answer);
    this.showDetail();
    return h('div', {}, this.legend, this.status, h('div', { class: 'blocks-frame' }, this.canvas, this.overlay), this.detail, this.largest);
  }

  private range(): Range {
    const { from, to } = this.store.state;
    return from !== null && to !== null ? clampRange({ from, to }, this.bounds) : this.fitted;
  }

  private setRange(range: Range): void {
    const { from, to } = clampRange(range, this.bounds);
    this.store.adjust({ from, to });
  }

  private columns(): number {
    return Math.round(Math.min(Math.max(this.element.clientWidth - 150, 300), 2000));
  }

  private askTile(state: State): Promise<Answer<Tile>> {
    const { from, to } = this.range();
    const options = [['from', timeOption(from)], ['to', timeOption(to)], ['top', blocksMax], ['width', String(this.columns())]] as const;

    return ask<Tile>('blocks', fileQuery('blocks', state, options));
  }

  private async loadTile(): Promise<void> {
    const turn = ++this.turn;
    const answer = await this.askTile(this.store.state).catch(() => null);

    if (answer && turn === this.turn) this.showTile(answer);
  }

  private showTile(answer: Answer<Tile>): void {
    const { state } = this.store;
    const tile = answer.data;
    this.command = answer.command;
    const layout = state.layout === 'address' ? addressLayout(tile) : stackedLayout(tile, this.columns());
    const em = 0.92 * parseFloat(getComputedStyle(document.documentElement).fontSize);

    this.hovered = -1;
    this.place = null; // numbers of blocks are those of a tile
    this.largest.replaceChildren(largestBlocks(tile, (ns) => this.momentText(ns), (block) => this.choose(block, (tile.from_ns + tile.to_ns) / 2)));
    this.tools.replaceChildren(toolbar([answer.command], { csv: () => tileCsv(tile), json: () => JSON.stringify(tile, null, 2), saves: saveButtons(this.picture()) }));
    this.remark.replaceChildren(...this.sentences(tile));
    this.legend.replaceChildren(...(isUniform(tile) ? [h('span', {}, 'Each function that requests memory has its own colour.')] : categoryLegend(new Set(tile.list.category))));
    this.show({ tile, layout, range: this.range(), search: state.search, hasTimes: hasTimes(tile.health), width: 0, height: 0, em, steps: this.steps });
  }

  private sentences(tile: Tile): Node[] {
    const { state } = this.store;
    const list = filtersIgnored('blocks', state);
    const where = state.layout === 'address' ? 'left out' : 'merged into the grey area on top, as their mean';

    if (tile.rest.blocks > 0)
      list.push(`${formatCount(tile.rest.blocks)} small or short blocks of ${formatCount(tile.blocks)} are ${where}; zoom in to see them.`);
    this.canvas.hidden = this.status.hidden = this.largest.hidden = tile.blocks === 0;
    const empty = tile.blocks === 0 ? nothing('No block was live in this part of the run.') : null;
    return [remarks(list), empty].filter((node) => node !== null);
  }

  private picture(): Picture {
    return {
      name: 'blocks',
      size: () => ({ width: this.canvas.clientWidth, height: this.canvas.clientHeight }),
      draw: (surface) => this.view && drawBlocks(surface, this.view),
    };
  }

  private show(view: View): void {
    const surface = beginCanvas(this.canvas);

    this.view = { ...view, width: this.canvas.clientWidth, height: this.canvas.clientHeight };
    if (!surface || this.view.width === 0) return;
    drawBlocks(surface, this.view);
    this.drawOverlay();
  }

  /* On a canvas of its own, so that pointing does not draw all blocks again. */
  private drawOverlay(): void {
    const surface = beginCanvas(this.overlay);

    if (!surface || !this.view) return;
    for (const block of new Set([this.chosen(this.view.tile), this.hovered])) if (block >= 0) frameBlock(surface, this.view, block);
  }

  /* The block whose details are shown; -1: none, or none in this picture */
  private chosen({ list }: Tile): number {
    const choice = parseBlock(this.store.state.block);
    const at = choice ? (parseTimeOption(choice.at) ?? 0) : 0;

    if (!choice) return -1;
    return list.address.findIndex(
      (address, i) => address === choice.address && String(list.pid[i]) === choice.pid && (list.begin_ns[i] ?? 0) <= at && at <= (list.end_ns[i] ?? 0),
    );
  }

  private momentText(ns: number): string {
    if (this.view && !this.view.hasTimes) return `event ${formatCount(ns)}`;
    return formatMoment(ns, 1000);
  }

  /* "blocks.0.weight: 64.0 KiB, parameter of GPT, for 186.5 ms from 3.27 s" */
  private describe(tile: Tile, block: number): string {
    const { begin_ns, end_ns, bytes, freed, category } = tile.list;
    const life = formatDuration((end_ns[block] ?? 0) - (begin_ns[block] ?? 0));
    const kind = words(tile.categories[category[block] ?? 0] ?? 'other');
    const module = nameOf(tile, 'module', block);
    const line = nameOf(tile, 'line', block);
    const name = blockName(tile, block);

    return `${name === '' ? '' : `${name}: `}${formatBytes(bytes[block] ?? 0)}, ${kind}${module ? ` of ${module}` : ''}` +
      `${line && line !== name ? `, at ${line}` : ''}, from ${this.momentText(begin_ns[block] ?? 0)}, ${freed[block] ? `for ${life}` : 'not freed by the end of the part shown'}`;
  }

  private hover(event: MouseEvent): void {
    if (!this.view) return;
    const block = blockAt(this.view, event.offsetX, event.offsetY);

    this.place = block < 0 ? null : { block, time: timeAt(this.view, event.offsetX) };
    this.point(block);
  }

  /* Names it, in the picture and for screen readers. */
  private point(block: number): void {
    if (!this.view || block === this.hovered) return;
    this.hovered = block;
    this.status.textContent = block < 0 ? hint : this.describe(this.view.tile, block);
    this.drawOverlay();
  }

  /* @time  at which its neighbours are shown */
  private choose(block: number, time: number): void {
    if (!this.view || block < 0) return;
    const { address, begin_ns, end_ns, pid } = this.view.tile.list;
    const last = Math.max((end_ns[block] ?? 0) - 1, begin_ns[block] ?? 0);
    const at = Math.round(Math.min(Math.max(time, begin_ns[block] ?? 0), last));

    this.store.update({ block: `${hex(address[block] ?? 0)}@${timeOption(at)}@${pid[block]}` });
  }

  private walk(direction: Direction): void {
    if (!this.view) return;
    const next = step(this.view.layout, this.view.range, this.place, direction);

    if (!next) return;
    this.place = next;
    this.point(next.block);
  }

  /* Closes the chosen block. */
  private leave(): void {
    this.place = null;
    this.point(-1);
    this.store.update({ block: '' });
  }

  private listen(): void {
    this.canvas.addEventListener('mousemove', (event) => this.hover(event));
    this.canvas.addEventListener('pointerdown', (event) => (this.dragFrom = event.offsetX));
    this.canvas.addEventListener('pointerup', (event) => this.release(event));
    this.canvas.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
    this.canvas.addEventListener('keydown', (event) => this.key(event));
    new ResizeObserver(() => this.redraw()).observe(this.canvas);
  }

  /* A drag zooms in, a click chooses a block. */
  private release(event: PointerEvent): void {
    const from = this.dragFrom;

    this.dragFrom = null;
    if (!this.view || from === null) return;
    if (Math.abs(event.offsetX - from) < dragMinPx) return this.choose(blockAt(this.view, event.offsetX, event.offsetY), timeAt(this.view, event.offsetX));
    const [a, b] = [timeAt(this.view, from), timeAt(this.view, event.offsetX)];
    this.setRange({ from: Math.min(a, b), to: Math.max(a, b) });
  }

  private wheel(event: WheelEvent): void {
    if (!this.view) return;
    const isSideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);

    event.preventDefault();
    if (isSideways) this.setRange(pan(this.range(), event.deltaX / 1000, this.bounds));
    else this.setRange(zoom(this.range(), Math.exp(event.deltaY / 400), timeAt(this.view, event.offsetX), this.bounds));
  }

  private key(event: KeyboardEvent): void {
    const range = this.range();
    const middle = (range.from + range.to) / 2;

    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const direction = directions[event.key];
    if (direction) this.walk(direction);
    else if (event.key === 'Enter' && this.place) this.choose(this.place.block, this.place.time);
    else if (event.key === 'Escape') this.leave();
    else if (['+', '='].includes(event.key)) this.setRange(zoom(range, 1 / zoomStep, middle, this.bounds));
    else if (event.key === '-') this.setRange(zoom(range, zoomStep, middle, this.bounds));
    else if (event.key === 'PageUp') this.setRange(pan(range, -0.25, this.bounds));
    else if (event.key === 'PageDown') this.setRange(pan(range, 0.25, this.bounds));
    else if (event.key === '0') this.store.update({ from: null, to: null });
    else if (event.key === 'a') this.setRange(this.bounds);
    else return;
    event.preventDefault();
  }
}
