/* The line above the timeline: what is stacked, which part is visible, the keys, the command.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { Answer } from '../api/client';
import type { Plot } from '../api/types';
import { button, h, select, setChoice, type Choice } from '../dom/element';
import { saveButtons } from '../dom/save';
import { toolbar } from '../dom/toolbar';
import { bandKeys, depthMax, type BandKey, type State } from '../state/state';
import { bandsCsv } from './bands-csv';
import type { ChartContent } from './chart';
import type { Action } from './keys';
import { keysHelp } from './keys-help';
import { timelinePicture } from './picture';

/* Modules by themselves, or all of one level. */
function depths(): Choice[] {
  const levels = Array.from({ length: depthMax }, (_, i) => String(i + 1));
  return [{ value: '', text: 'as fits' }, ...levels.map((value) => ({ value, text: value }))];
}

export class Controls {
  readonly element: HTMLElement;
  private readonly by: HTMLLabelElement;
  private readonly depth: HTMLLabelElement;
  private readonly hasRanks: () => boolean;
  private readonly commands = h('div', { class: 'commands' });

  /* @hasRanks  several traces are open */
  constructor(stack: (change: { by: BandKey } | { depth: number | null }) => void, act: (action: Action) => void, hasRanks: () => boolean) {
    const choices = bandKeys.map((key) => ({ value: key, text: key }));

    this.by = select('Stacked by', choices, bandKeys[0], (key) => stack({ by: key as BandKey }));
    this.hasRanks = hasRanks;
    this.depth = select('Depth', depths(), '', (depth) => stack({ depth: depth === '' ? null : Number(depth) }));
    this.element = h(
      'div',
      { class: 'bar-line' },
      this.by,
      this.depth,
      button('Fit to steps', () => act('fit'), { title: 'Key 0' }),
      button('Whole run', () => act('everything'), { title: 'Key a' }),
      keysHelp(),
      this.commands,
    );
  }

  show({ command, data }: Answer<Plot>, content: ChartContent, { by, depth }: Pick<State, 'by' | 'depth'>): void {
    const copies = {
      csv: () => bandsCsv(data, content.layers),
      json: () => JSON.stringify(data, null, 2),
      saves: saveButtons(timelinePicture(content)),
    };

    setChoice(this.by, by);
    setChoice(this.depth, String(depth ?? ''));
    this.depth.hidden = by !== 'module';
    for (const option of this.by.querySelectorAll('option')) option.hidden = option.disabled = option.value === 'rank' && by !== 'rank' && !this.hasRanks();
    this.commands.replaceChildren(toolbar([command], copies));
  }
}
