import { counterpartOf, isRunner } from '../../engine-list.mjs'
import { mixes } from '../../workload.mjs'
import { growthOf, ratioOf } from '../cells.mjs'
import { count, figure, leftOut, table } from '../table.mjs'

const frameworks = [
  'langgraph',
  'ai-generate',
  'ai-stream',
  'openai-agents',
  'mastra',
  'anthropic-runner',
  'anthropic-eager',
]

/** The project's targets beside the measurements. */
export function targetsSection(measured, { sizes }) {
  const rows = [
    ...growthTargets(measured),
    ...memoryTargets(measured),
    ...startTargets(measured),
    ...leadTargets(measured, sizes),
  ]
  return ['### Targets', table(['target', 'measured', ''], rows.map(shown), 3)].join('\n\n')
}

const shown = ([target, text, isMet]) => [
  target,
  text,
  text === leftOut ? 'not measured' : isMet ? 'met' : '**missed**',
]

const times = (value) => value?.toFixed(2) ?? leftOut

function growthTargets(measured) {
  return Object.entries(mixes).map(([mix, { title }]) => {
    const growth = growthOf(measured, 'signalbox', mix)
    return [
      `a call costs at 10,000 at most 1.5 times what it costs at 100: ${title.toLowerCase()}`,
      times(growth),
      growth <= 1.5,
    ]
  })
}

function memoryTargets({ memory }) {
  const { sizes, retained } = memory.find(({ engine }) => engine === 'signalbox')
  // no figure if the machine is too slow for 10,000
  const growth = sizes[10_000] && sizes[10_000].live / sizes[100].live
  return [
    ['memory in flight is linear: a call at 10,000 over one at 100', times(growth), growth <= 1.5],
    // garbage that is not collected yet adds a few bytes either way
    ['nothing stays behind after a turn, in bytes per call', count(retained), Math.abs(retained) < 20],
  ]
}

function startTargets({ startUp, bundles }) {
  const { imported } = startUp.find(({ engine }) => engine === '../dist/src/index.js')
  const [whole] = bundles
  return [
    ['the import takes less than 60 ms', figure(imported.median), imported.median < 60],
    [
      'the core is below 40 KB of 1,024 bytes, xstate and zod outside',
      figure(whole.outside.gzip / 1_024),
      whole.outside.gzip < 40 * 1_024,
    ],
  ]
}

/** Per framework: the sizes N at which it is cheaper. */
function leadTargets(measured, sizes) {
  const present = frameworks.filter((name) => measured.about[name])
  const leadOf = (name, base, beside = '') => {
    const behind = sizes.filter((size) => ratioOf(measured, name, base, 'safe', size) < 1)
    const text = behind.length === 0 ? 'at every N' : `not at N=${behind.map(count).join(', ')}`
    return [`a call costs less than with ${measured.about[name].title}${beside}`, text, behind.length === 0]
  }
  return [
    ...present.map((name) => leadOf(name, counterpartOf(measured.about[name]))),
    ...present.filter(isRunner).map((name) => leadOf(name, 'signalbox', ': the executor alone')),
  ]
}
