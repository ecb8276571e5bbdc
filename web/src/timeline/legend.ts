/* The bands by name, with their values under the pointer, or their own peaks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { button, h } from '../dom/element';
import { formatBytes, formatExact } from '../format/bytes';
import { withoutFolders } from '../format/commands';
import { swatch } from '../theme/patterns';
import { commonPath } from './band-names';
import type { ChartContent } from './chart';
import { resample } from './lines';
import { bytesAt } from './stack';

interface Value {
  value: HTMLElement;
  bytesAt: (moment: number) => number;
  peakBytes: number;
}

export class Legend {
  readonly element = h('div', { class: 'legend' });
  private readonly title = h('p', { class: 'legend-title' });
  private values: Value[] = [];

  constructor(
    private readonly toggleLine: (index: number) => void,
    private readonly momentText: (moment: number) => string,
  ) {}

  show(content: ChartContent): void {
    const list = h('ul');

    this.values = [];
    for (const item of this.bandItems(content)) list.append(item);
    for (const item of this.lineItems(content)) list.append(item);
    this.element.replaceChildren(this.title, list);
    this.hover(null);
  }

  /* @moment  index into the plot's times; null: show peaks */
  hover(moment: number | null): void {
    this.title.textContent = moment === null ? 'each at its own peak' : `at ${this.momentText(moment)}`;
    for (const line of this.values) {
      const bytes = moment === null ? line.peakBytes : line.bytesAt(moment);
      line.value.textContent = formatBytes(bytes);
      line.value.title = formatExact(bytes);
    }
  }

  private bandItems({ plot, layers }: ChartContent): HTMLElement[] {
    const total = h('span', { class: 'number' });
    const top = layers.length - 1;
    const path = commonPath(layers.map(({ name }) => name));
    const items = layers.map((layer, level) => {
      const name = plot.by === 'process' ? withoutFolders(layer.name) : path !== '' && layer.name.startsWith(path) ? layer.name.slice(path.length) : layer.name;
      const value = h('span', { class: 'number' });
      const peakBytes = plot.bands[layer.band]?.peak_bytes ?? 0;

      this.values.push({ value, peakBytes, bytesAt: (moment) => bytesAt(layers, level, moment) });
      return h('li', {}, swatch(layer.band), h('span', { class: 'name', title: layer.name }, name), value);
    });

    if (layers.length === 0) return []; // a sum of nothing beside sampled memory would look like a measurement
    this.values.push({ value: total, peakBytes: plot.peak_bytes, bytesAt: (m) => layers[top]?.tops[m] ?? 0 });
    const all = h('li', { class: 'total' }, h('span', { class: 'swatch' }), h('span', { class: 'name' }, 'all'), total);
    return [all, ...items.reverse()];
  }

  /* A line can be turned off, since it may be far above the bands. */
  private lineItems({ plot, lines, shown }: ChartContent): HTMLElement[] {
    return lines.map((line, i) => {
      const toggle = button(line.name, () => this.toggleLine(i), { 'aria-pressed': String(shown.includes(i)), title: line.name });
      const value = h('span', { class: 'number' });
      const values = resample(plot.times_ns, line);

      this.values.push({ value, peakBytes: line.bytes.reduce<number>((most, bytes) => Math.max(most, bytes ?? 0), 0), bytesAt: (m) => values[m] ?? 0 });
      return h('li', { class: 'sample' }, h('span', { class: `swatch line-${shown.indexOf(i) % 3}` }), toggle, value);
    });
  }
}
