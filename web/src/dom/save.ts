/* Saves a drawing as a file, as SVG or PNG.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { inks } from '../theme/inks';
import { CanvasSurface, type Surface } from '../theme/surface';
import { SvgSurface } from '../theme/svg';
import { button } from './element';

export interface Picture {
  name: string; // of the file, without its ending
  size: () => { width: number; height: number }; // in CSS pixels
  draw: (surface: Surface) => void;
}

const pngScale = 2;

export function saveFile(name: string, content: Blob): void {
  const link = document.createElement('a');

  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000); // once the browser has read it
}

export function saveCanvas(name: string, canvas: HTMLCanvasElement): void {
  canvas.toBlob((blob) => blob && saveFile(`${name}.png`, blob));
}

export function svgOf(picture: Picture): string {
  const { width, height } = picture.size();
  const surface = new SvgSurface(width, height);

  picture.draw(surface);
  return surface.file(picture.name);
}

function savePng(picture: Picture): void {
  const { width, height } = picture.size();
  const canvas = document.createElement('canvas');
  const context = canvas.getContext('2d');

  canvas.width = Math.round(width * pngScale);
  canvas.height = Math.round(height * pngScale);
  if (!context) return;
  context.scale(pngScale, pngScale);
  const surface = new CanvasSurface(context, 1);
  surface.rect(0, 0, width, height, inks.paper);
  picture.draw(surface);
  saveCanvas(picture.name, canvas);
}

export function saveButtons(picture: Picture): HTMLElement[] {
  return [
    button('SVG', () => saveFile(`${picture.name}.svg`, new Blob([svgOf(picture)], { type: 'image/svg+xml' })), { title: 'Save the picture as SVG' }),
    button('PNG', () => savePng(picture), { title: 'Save the picture as PNG' }),
  ];
}
