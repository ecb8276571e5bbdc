/* The timeline: uPlot draws bands, lines and axes, and follows the pointer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { Plot } from '../api/types';
import { formatBytes, formatCount } from '../format/bytes';
import { formatMoment } from '../format/time';
import type { Moments } from '../instant/moments';
import { inks } from '../theme/inks';
import { partFill } from '../theme/patterns';
import { colour, isDark } from '../theme/theme';
import { drawOverlay, overlayEm } from './overlay';
import type { Range } from './range';
import { resample, type Line } from './lines';
import type { Layer } from './stack';
import { byteIncrements, countIncrements, timeIncrements } from './ticks';

export interface ChartEvents {
  zoomed: (range: Range) => void; // by dragging
  chosen: (ns: number, asBase: boolean) => void;
  wheel: (ns: number, event: WheelEvent) => void;
  hovered: (moment: number | null) => void; // index into the plot's times
  resized: () => void;
}

export interface ChartContent {
  plot: Plot;
  layers: Layer[];
  lines: Line[];
  shown: number[]; // indexes of the shown lines
}

const dragMinPx = 5;
const axisEm = 6.4; // of the sizes on the left
const rightPx = 14;
const fontFamily = 'system-ui, sans-serif';

function fontPx(): number {
  return 0.92 * parseFloat(getComputedStyle(document.documentElement).fontSize);
}

export class Chart {
  private u: uPlot | null = null;
  private content: ChartContent | null = null;
  private signature = '';
  private moments: Moments = { at: null, base: null };

  constructor(
    private readonly place: HTMLElement,
    private readonly events: ChartEvents,
  ) {
    new ResizeObserver(() => this.resize()).observe(place);
  }

  show(content: ChartContent, range: Range): void {
    const signature = JSON.stringify([
      content.layers.map((layer) => layer.band), content.shown, content.plot.has_times, content.plot.by, isDark(),
    ]);

    this.content = content;
    if (!this.u || signature !== this.signature) this.build(range);
    else this.u.setData(this.data());
    this.signature = signature;
    this.setRange(range);
  }

  setRange(range: Range): void {
    this.u?.setScale('x', { min: range.from, max: range.to });
  }

  setMoments(moments: Moments): void {
    this.moments = moments;
    this.u?.redraw(false);
  }

  /* Columns for bands as wide as the place is now; uPlot hears of a new width only later. */
  columns(): number {
    return this.place.clientWidth - axisEm * fontPx() - rightPx;
  }

  /* Where the bands begin and how wide they are, in CSS pixels. */
  plotArea(): { left: number; width: number } {
    if (!this.u) return { left: 0, width: this.place.clientWidth };
    return { left: this.u.bbox.left / uPlot.pxRatio, width: this.u.bbox.width / uPlot.pxRatio };
  }

  clear(): void {
    this.u?.destroy();
    this.u = null;
  }

  private resize(): void {
    this.u?.setSize(this.size());
    this.events.resized();
  }

  private size(): { width: number; height: number } {
    return { width: Math.max(this.place.clientWidth, 100), height: Math.max(this.place.clientHeight, 100) };
  }

  private build(range: Range): void {
    this.clear();
    this.u = new uPlot(this.options(range), this.data(), this.place);
    this.listen(this.u);
  }

  /* The highest layer is drawn first, down to the axis, and lower ones over it. The last moment is
   * repeated at the end. */
  private data(): uPlot.AlignedData {
    const { plot, layers, lines, shown } = this.content as ChartContent;
    const times = [...plot.times_ns, plot.to_ns];
    const tops = [...layers].reverse().map((layer) => [...layer.tops, layer.tops[layer.tops.length - 1] ?? 0]);
    const values = shown.map((i) => {
      const line = lines[i];
      return line ? resample(times, line) : times.map(() => null);
    });

    return [times, ...tops, ...values] as uPlot.AlignedData;
  }

  private series(): uPlot.Series[] {
    const { layers, shown } = this.content as ChartContent;
    const paths = uPlot.paths.stepped?.({ align: 1 });
    const common = { points: { show: false }, ...(paths ? { paths } : {}) };
    const areas = [...layers].reverse().map((layer) => ({
      ...common,
      width: 0,
      fill: (u: uPlot) => partFill(u.ctx, layer.band, uPlot.pxRatio),
    }));
    const lines = shown.map((_, i) => ({
      ...common,
      width: 1.5,
      stroke: colour(inks.text),
      dash: [[6, 3], [2, 2.5], [10, 3, 2, 3]][i % 3] as number[],
    }));

    return [{}, ...areas, ...lines];
  }

  private axes(): uPlot.Axis[] {
    const font = `${fontPx()}px ${fontFamily}`;
    const hasTimes = this.content?.plot.has_times ?? true;
    const common = {
      font,
      stroke: colour(inks.quiet),
      grid: { stroke: colour(inks.grid), width: 1 },
      ticks: { stroke: colour(inks.axis), width: 1, size: 5 },
    };
    const moment = (v: number, step: number) => (hasTimes ? formatMoment(v, step) : formatCount(v));

    return [
      {
        ...common,
        size: 2.4 * fontPx(),
        space: 8 * fontPx(),
        incrs: [...(hasTimes ? timeIncrements : countIncrements)],
        values: (u, splits, _axis, _space, step) => splits.map((v) => (this.hasRoom(u, v, moment(v, step)) ? moment(v, step) : '')),
      },
      {
        ...common,
        size: axisEm * fontPx(),
        space: 2.2 * fontPx(),
        incrs: [...byteIncrements],
        values: (_u, splits) => splits.map(formatBytes),
      },
    ];
  }

  /* Whether a text that is centred at this moment ends inside the picture. */
  private hasRoom(u: uPlot, ns: number, text: string): boolean {
    const halfPx = 0.3 * fontPx() * text.length;
    return u.valToPos(ns, 'x') + halfPx <= u.bbox.width / uPlot.pxRatio + rightPx;
  }

  private options(range: Range): uPlot.Options {
    return {
      ...this.size(),
      padding: [overlayEm * fontPx(), rightPx, 0, 0],
      legend: { show: false },
      scales: {
        x: { time: false, auto: false, min: range.from, max: range.to },
        y: { range: (_u, _min, max) => [0, max > 0 ? max * 1.06 : 1024] },
      },
      series: this.series(),
      axes: this.axes(),
      cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: false } },
      hooks: {
        draw: [(u) => drawOverlay(u, this.content?.plot ?? { marks: [] }, this.moments, fontPx())],
        setSelect: [(u) => this.selected(u)],
        setCursor: [(u) => this.events.hovered(this.momentOf(u.cursor.idx))],
      },
    };
  }

  /* The point at the end of the data repeats the last moment. */
  private momentOf(index: number | null | undefined): number | null {
    const count = this.content?.plot.times_ns.length ?? 0;
    return index === null || index === undefined || count === 0 ? null : Math.min(index, count - 1);
  }

  private selected(u: uPlot): void {
    const { left, width } = u.select;

    if (width < dragMinPx) return;
    this.events.zoomed({ from: Math.round(u.posToVal(left, 'x')), to: Math.round(u.posToVal(left + width, 'x')) });
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  }

  private listen(u: uPlot): void {
    const timeAt = (event: MouseEvent) => u.posToVal(event.clientX - u.over.getBoundingClientRect().left, 'x');

    u.over.addEventListener('click', (event) => this.events.chosen(Math.round(timeAt(event)), event.shiftKey));
    u.over.addEventListener('wheel', (event) => this.events.wheel(timeAt(event), event), { passive: false });
    u.over.addEventListener('mouseleave', () => this.events.hovered(null));
  }
}
