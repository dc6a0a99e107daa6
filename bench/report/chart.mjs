import { counterpartOf, field } from '../engine-list.mjs'
import { cellOf } from './cells.mjs'
import { spacedLabels } from './spaced-labels.mjs'

const panel = { width: 200, height: 340, labels: 186, left: 62, top: 62 }
const panelWidth = panel.width + panel.labels
const view = { width: panel.left + 3 * panelWidth, height: panel.top + panel.height + 46 }
/** Readable on light and dark backgrounds. */
const colors = ['#7c8896', '#b7791f', '#2f9e6e', '#8f5fd0', '#c2507a', '#3f86c7', '#8a8a3a', '#a0653c']
const titles = {
  signalbox: 'From calls to results',
  'signalbox-query': "With a model's reply",
  'signalbox-anthropic': "On Anthropic's client",
}

/** µs per call by N, both logarithmic; one panel for each part of Signalbox and its counterparts. */
export function chart(measured, { sizes }) {
  const scale = scaleFor(measured, sizes)
  const panels = Object.keys(titles).map((ours, at) => panelOf(measured, sizes, ours, at, scale))
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${view.width} ${view.height}" role="img" aria-labelledby="t d">`,
    '<title id="t">Overhead per call</title>',
    '<desc id="d">Microseconds per call over the number of calls in a turn, for each engine, on logarithmic scales.</desc>',
    `<style>${style}</style>`,
    `<text class="head" x="${panel.left}" y="20">Overhead per call in µs, all calls safe, by calls in the turn</text>`,
    ...panels,
    '</svg>',
    '',
  ].join('\n')
}

const style = [
  'text{font:13px system-ui,sans-serif;fill:#57606a}',
  '.head{font-size:15px;font-weight:600;fill:#1f2328}',
  '.ours{font-weight:600;fill:#0a6cff}',
  '.grid{stroke:#d0d7de;stroke-width:1}',
  '.line{fill:none;stroke-width:1.5}',
  '.line.ours{stroke-width:3}',
  '.leader{fill:none;stroke:#8c959f;stroke-width:.6;opacity:.7}',
  '@media(prefers-color-scheme:dark){text{fill:#9198a1}.head{fill:#f0f6fc}.ours{fill:#58a6ff}.grid{stroke:#3d444d}}',
].join('')

function scaleFor({ cells }, sizes) {
  const values = cells.filter(({ mix, median, engine }) => mix === 'safe' && median > 0 && field.includes(engine))
  const powers = values.map(({ median }) => Math.log10(median))
  const low = Math.floor(Math.min(...powers))
  const high = Math.ceil(Math.max(...powers))
  const most = Math.log10(sizes.at(-1))
  return {
    low,
    high,
    x: (size) => (Math.log10(size) / most) * panel.width,
    y: (value) => panel.top + panel.height * (1 - (Math.log10(value) - low) / (high - low)),
  }
}

function panelOf(measured, sizes, ours, at, scale) {
  const left = panel.left + at * panelWidth
  const names = field.filter((name) => measured.about[name] && counterpartOf(measured.about[name]) === ours)
  const lines = names
    .map((name, index) => lineOf(measured, sizes, name, index, scale))
    .filter(({ points }) => points.length > 0)
  const labels = spacedLabels(lines, panel.top, panel.top + panel.height)
  return [
    `<g transform="translate(${left} 0)">`,
    `<text x="0" y="${panel.top - 16}">${titles[ours]}</text>`,
    ...gridOf(sizes, scale, at === 0),
    ...lines.map(({ points, color, isOurs }) => curve(points, color, isOurs)),
    ...labels.map(label),
    '</g>',
  ].join('\n')
}

function lineOf(measured, sizes, name, index, { x, y }) {
  const points = sizes.flatMap((size) => {
    const value = cellOf(measured, name, 'safe', size)?.median
    return value > 0 ? [[round(x(size)), round(y(value))]] : []
  })
  const isOurs = name.startsWith('signalbox')
  return { text: measured.about[name].title, points, isOurs, color: isOurs ? '#2f7fff' : colors[index % colors.length] }
}

function gridOf(sizes, { low, high, x, y }, hasNumbers) {
  const powers = Array.from({ length: high - low + 1 }, (_, step) => low + step)
  const bottom = panel.top + panel.height
  return [
    ...powers.map((power) => `<path class="grid" d="M0 ${round(y(10 ** power))}H${panel.width}"/>`),
    ...(hasNumbers ? powers : []).map(
      (power) => `<text x="-8" y="${round(y(10 ** power)) + 4}" text-anchor="end">${number(10 ** power)}</text>`,
    ),
    ...sizes.map(
      (size) => `<text x="${round(x(size))}" y="${bottom + 18}" text-anchor="middle">${number(size)}</text>`,
    ),
    `<text x="${panel.width / 2}" y="${bottom + 36}" text-anchor="middle">calls in the turn</text>`,
  ]
}

function curve(points, color, isOurs) {
  const path = points.map(([x, y], index) => `${index === 0 ? 'M' : 'L'}${x} ${y}`).join('')
  const dots = points
    .map(([x, y]) => `<circle cx="${x}" cy="${y}" r="${isOurs ? 3.5 : 2.5}" fill="${color}"/>`)
    .join('')
  return `<path class="line${isOurs ? ' ours' : ''}" style="fill:none" stroke="${color}" d="${path}"/>${dots}`
}

/** Beside the last point of its line, with a leader line if it was moved. */
function label({ text, at, isOurs, color, points }) {
  const [x, y] = points.at(-1)
  const thread = `<path class="leader" d="M${x + 4} ${y}L${panel.width + 12} ${round(at)}"/>`
  const style = isOurs ? '' : ` style="fill:${color}"`
  return `${thread}<text class="${isOurs ? 'ours' : ''}"${style} x="${panel.width + 15}" y="${round(at) + 4}">${escaped(text)}</text>`
}

const round = (value) => Math.round(value * 10) / 10
const number = (value) => (value >= 1_000 ? `${value / 1_000}k` : `${value}`)
const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
