/* Fills of the bands: ink under a hatch, so that they are told apart without colour.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import { hatchOpacity, hatchTilePx, inks, partHatch, partInk } from './inks';
import { colour, isDark } from './theme';

const tiles = new Map<string, HTMLCanvasElement>();

function drawTile(part: number, scale: number): HTMLCanvasElement {
  const tile = document.createElement('canvas');
  const context = tile.getContext('2d');

  tile.width = tile.height = Math.round(hatchTilePx * scale);
  if (!context) return tile;
  context.fillStyle = colour(partInk(part));
  context.fillRect(0, 0, tile.width, tile.height);
  context.scale(tile.width / hatchTilePx, tile.height / hatchTilePx);
  context.strokeStyle = colour(inks.text);
  context.globalAlpha = hatchOpacity;
  context.beginPath();
  for (const [x1, y1, x2, y2] of partHatch(part)) {
    context.moveTo(x1, y1);
    context.lineTo(x2, y2);
  }
  context.stroke();
  return tile;
}

function tileOf(part: number, scale: number): HTMLCanvasElement {
  const key = `${part} ${scale} ${isDark()}`;
  const tile = tiles.get(key) ?? drawTile(part, scale);

  tiles.set(key, tile);
  return tile;
}

/* @scale  device pixels of a CSS pixel */
export function partFill(context: CanvasRenderingContext2D, part: number, scale: number): CanvasPattern | string {
  return context.createPattern(tileOf(part, scale), 'repeat') ?? colour(partInk(part));
}

/* A sample of the fill, for legends. */
export function swatch(part: number): HTMLCanvasElement {
  const scale = window.devicePixelRatio;
  const canvas = document.createElement('canvas');
  const context = canvas.getContext('2d');

  canvas.className = 'swatch';
  canvas.width = canvas.height = Math.round(2 * hatchTilePx * scale);
  canvas.setAttribute('aria-hidden', 'true');
  if (context) {
    context.fillStyle = partFill(context, part, scale);
    context.fillRect(0, 0, canvas.width, canvas.height);
  }
  return canvas;
}
