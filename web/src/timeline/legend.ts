/* The bands by name, with their values under the pointer, or their own peaks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { button, h } from '../dom/element';
import { formatBytes, formatExact } from '../format/bytes';
import { swatch } from '../theme/patterns';
import type { ChartContent } from './chart';
import { sampleName } from './samples';
import { bytesAt } from './stack';

interface Line {
  value: HTMLElement;
  bytesAt: (moment: number) => number;
  peakBytes: number;
}

export class Legend {
  readonly element = h('div', { class: 'legend' });
  private readonly title = h('p', { class: 'legend-title' });
  private lines: Line[] = [];

  constructor(
    private readonly toggleSample: (index: number) => void,
    private readonly momentText: (moment: number) => string,
  ) {}

  show(content: ChartContent): void {
    const list = h('ul');

    this.lines = [];
    for (const item of this.bandItems(content)) list.append(item);
    for (const item of this.sampleItems(content)) list.append(item);
    this.element.replaceChildren(this.title, list);
    this.hover(null);
  }

  /* @moment  index into the plot's times; null: show peaks */
  hover(moment: number | null): void {
    this.title.textContent = moment === null ? 'each at its own peak' : `at ${this.momentText(moment)}`;
    for (const line of this.lines) {
      const bytes = moment === null ? line.peakBytes : line.bytesAt(moment);
      line.value.textContent = formatBytes(bytes);
      line.value.title = formatExact(bytes);
    }
  }

  private bandItems({ plot, layers }: ChartContent): HTMLElement[] {
    const total = h('span', { class: 'number' });
    const top = layers.length - 1;
    const items = layers.map((layer, level) => {
      const value = h('span', { class: 'number' });
      const peakBytes = plot.bands[layer.band]?.peak_bytes ?? 0;

      this.lines.push({ value, peakBytes, bytesAt: (moment) => bytesAt(layers, level, moment) });
      return h('li', {}, swatch(layer.band), h('span', { class: 'name', title: layer.name }, layer.name), value);
    });

    this.lines.push({ value: total, peakBytes: plot.peak_bytes, bytesAt: (m) => layers[top]?.tops[m] ?? 0 });
    const all = h('li', { class: 'total' }, h('span', { class: 'swatch' }), h('span', { class: 'name' }, 'all'), total);
    return [all, ...items.reverse()];
  }

  private sampleItems({ plot, samples }: ChartContent): HTMLElement[] {
    return plot.samples.map((curve, i) => {
      const name = sampleName(curve);
      const toggle = button(name, () => this.toggleSample(i), { 'aria-pressed': String(samples.includes(i)), title: name });

      return h('li', { class: 'sample' }, h('span', { class: `swatch line-${samples.indexOf(i) % 3}` }), toggle);
    });
  }
}
