/* The segments of an allocator at an instant as rows: blocks, and the holes between them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { Answer } from '../api/client';
import type { Instant } from '../api/types';
import { h } from '../dom/element';
import type { Picture } from '../dom/save';
import { contains } from '../dom/sort';
import { formatBytes, formatExact, formatPercent } from '../format/bytes';
import { toCsv } from '../format/csv';
import { instantHeading } from '../instant/frame';
import { categoryNumber, words } from '../theme/categories';
import { inks, isHatched } from '../theme/inks';
import { fitText } from '../theme/fit-text';
import { beginCanvas, type Surface } from '../theme/surface';
import { pieceAt, type Segment, type SegmentBlock } from './pieces';

export interface Fragmentation extends Instant {
  segments: number;
  list: Segment[];
}

const [rowRem, rowMinRem] = [1.5, 0.5];
const rowsRem = 90; // of all rows, unless they become too low
const labelRem = 15;
const namedPx = 40;
const namePx = 9; // the smallest readable name

/* A byte of a segment. */
interface Place {
  row: number;
  offset: number;
}

/* Rows are to scale: the largest segment has the whole width. */
export class SegmentMap {
  readonly canvas = h('canvas', { class: 'segments', role: 'img', tabindex: 0, 'aria-label': 'Segments with their blocks and holes. Arrows go from one to the next and name it.' });
  readonly status = h('p', { class: 'icicle-status', role: 'status' }, 'Point at a block or a hole, or press ← → ↑ ↓.');
  private readonly segments: Segment[];
  private readonly widest: number;
  private place: Place | null = null;

  constructor(
    { data }: Answer<Fragmentation>,
    private readonly search: string,
  ) {
    this.segments = [...data.list].sort((a, b) => a.device.localeCompare(b.device) || a.pid - b.pid || a.address - b.address);
    this.widest = this.segments.reduce((most, { bytes }) => Math.max(most, bytes), 1);
    this.canvas.style.height = `${this.segments.length * this.rowSize()}rem`;
    this.canvas.addEventListener('mousemove', (event) => this.point(event));
    this.canvas.addEventListener('keydown', (event) => this.key(event));
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  picture(): Picture {
    return {
      name: 'segments',
      size: () => ({ width: this.canvas.clientWidth, height: this.canvas.clientHeight }),
      draw: (surface) => this.drawRows(surface),
    };
  }

  private rowSize(): number {
    return Math.max(rowMinRem, Math.min(rowRem, rowsRem / Math.max(this.segments.length, 1)));
  }

  private rem(): number {
    return parseFloat(getComputedStyle(document.documentElement).fontSize);
  }

  private left(): number {
    return labelRem * this.rem();
  }

  private scale(): number {
    return (this.canvas.clientWidth - this.left() - 2) / this.widest;
  }

  private draw(): void {
    const surface = beginCanvas(this.canvas);

    if (!surface) return;
    this.drawRows(surface);
    if (this.place) this.drawPlace(surface, this.place);
  }

  private drawPlace(surface: Surface, { row, offset }: Place): void {
    const segment = this.segments[row];
    const piece = segment && pieceAt(segment, offset);
    const size = this.rowSize() * this.rem();

    if (piece) surface.frame(this.left() + piece.from * this.scale(), row * size + 1, Math.max((piece.to - piece.from) * this.scale(), 2), size - 2);
  }

  /* Where rows are lower than a text, not every row has a label. */
  private drawRows(surface: Surface): void {
    const row = this.rowSize() * this.rem();
    const stride = Math.ceil((1.2 * this.labelPx()) / row);

    for (const [i, segment] of this.segments.entries()) {
      this.drawRow(surface, segment, i * row);
      if (i % stride === 0) this.drawLabel(surface, segment, i * row + row / 2);
    }
    surface.setAlpha(1);
  }

  private labelPx(): number {
    return 0.85 * this.rem();
  }

  private drawLabel(surface: Surface, segment: Segment, y: number): void {
    const label = `${formatBytes(segment.bytes)}, ${formatPercent(segment.free_percent)} free`;

    surface.setAlpha(1);
    surface.text(2, y, fitText(surface, label, this.labelPx(), this.left() - 8), { px: this.labelPx(), quiet: true });
  }

  private drawRow(surface: Surface, segment: Segment, y: number): void {
    const row = this.rowSize() * this.rem();

    surface.setAlpha(1);
    surface.rect(this.left(), y + 1, segment.bytes * this.scale(), row - 2, inks.grid);
    for (const block of segment.block_list) this.drawBlock(surface, block, y, row);
  }

  private drawBlock(surface: Surface, block: SegmentBlock, y: number, row: number): void {
    const [x, width] = [this.left() + block.offset * this.scale(), block.bytes * this.scale()];
    const px = Math.min(0.8 * this.rem(), 0.8 * row);

    surface.setAlpha(this.search === '' || contains(block.name, this.search) ? 1 : 0.2);
    surface.rect(x, y + 1, Math.max(width - 0.7, 0.5), row - 2, categoryNumber(block.category));
    if (width < namedPx || px < namePx || block.name === null) return;
    surface.text(x + 3, y + row / 2, fitText(surface, block.name, px, width - 6), { px, halo: isHatched(categoryNumber(block.category)) });
  }

  private point(event: MouseEvent): void {
    this.show({ row: Math.floor(event.offsetY / (this.rowSize() * this.rem())), offset: (event.offsetX - this.left()) / this.scale() });
  }

  private show(place: Place): void {
    const segment = this.segments[place.row];

    if (!segment || place.offset < 0 || place.offset >= segment.bytes) return;
    this.place = place;
    this.status.textContent = describe(segment, place.offset);
    this.draw();
  }

  private key(event: KeyboardEvent): void {
    const { row, offset } = this.place ?? { row: 0, offset: 0 };
    const segment = this.segments[row];
    const piece = segment && pieceAt(segment, offset);
    const places: Record<string, Place> = {
      ArrowLeft: { row, offset: (piece?.from ?? 0) - 1 }, ArrowRight: { row, offset: piece?.to ?? 0 }, ArrowUp: { row: row - 1, offset: 0 }, ArrowDown: { row: row + 1, offset: 0 },
    };
    const to = places[event.key];

    if (!to || event.ctrlKey || event.altKey || event.metaKey) return;
    this.show(this.place ? to : { row: 0, offset: 0 });
    event.preventDefault();
  }
}

function describe(segment: Segment, offset: number): string {
  const { from, to, block } = pieceAt(segment, offset);
  const place = `segment 0x${segment.address.toString(16)} of ${formatBytes(segment.bytes)} on ${segment.device}`;

  if (!block) return `a hole of ${formatBytes(to - from)} in ${place}`;
  return `${block.name ?? words(block.category)}: ${formatBytes(block.bytes)} (${formatExact(block.bytes)}), ${words(block.category)}, in ${place}`;
}

export function categoriesOf(data: Fragmentation): Set<number> {
  return new Set(data.list.flatMap((segment) => segment.block_list.map((block) => categoryNumber(block.category))));
}

export function segmentsHeading(data: Fragmentation): HTMLElement {
  const line = instantHeading(data);
  const free = data.list.reduce((sum, segment) => sum + segment.free_bytes, 0);
  const rest = data.segments > data.list.length ? `, of ${data.segments}; those with most free memory` : '';

  line.append(`. ${data.list.length} segments${rest}; ${formatBytes(free)} free in them.`);
  return line;
}

/* One row for each segment, as the command lists them. */
export function segmentsCsv(data: Fragmentation): string {
  const titles = ['device', 'pid', 'address', 'bytes', 'live_bytes', 'free_bytes', 'largest_hole_bytes', 'blocks'];
  const rows = data.list.map((segment) => [
    segment.device, segment.pid, `0x${segment.address.toString(16)}`, segment.bytes, segment.live_bytes, segment.free_bytes,
    segment.largest_hole_bytes, segment.block_list.length,
  ]);
  return toCsv(titles, rows);
}
