/* The line above the timeline: what is stacked, which part is visible, the keys, the command.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import type { Answer } from '../api/client';
import type { Plot } from '../api/types';
import { button, h, select } from '../dom/element';
import { saveButtons } from '../dom/save';
import { toolbar } from '../dom/toolbar';
import { bandKeys, type BandKey } from '../state/state';
import { bandsCsv } from './bands-csv';
import type { ChartContent } from './chart';
import type { Action } from './keys';
import { keysHelp } from './keys-help';
import { timelinePicture } from './picture';

export class Controls {
  readonly element: HTMLElement;
  private readonly by: HTMLLabelElement;
  private readonly commands = h('div', { class: 'commands' });

  constructor(stack: (by: BandKey) => void, act: (action: Action) => void) {
    const choices = bandKeys.map((key) => ({ value: key, text: key }));

    this.by = select('Stacked by', choices, bandKeys[0], (key) => stack(key as BandKey));
    this.element = h(
      'div',
      { class: 'bar-line' },
      this.by,
      button('Fit to steps', () => act('fit'), { title: 'Key 0' }),
      button('Whole run', () => act('everything'), { title: 'Key a' }),
      keysHelp(),
      this.commands,
    );
  }

  show({ command, data }: Answer<Plot>, content: ChartContent, by: BandKey): void {
    const copies = {
      csv: () => bandsCsv(data, content.layers),
      json: () => JSON.stringify(data, null, 2),
      saves: saveButtons(timelinePicture(content)),
    };
    const list = this.by.querySelector('select');

    if (list) list.value = by;
    this.commands.replaceChildren(toolbar([command], copies));
  }
}
