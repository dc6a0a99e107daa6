import { bundleSection } from './sections/bundle.mjs'
import { extrasSection } from './sections/extras.mjs'
import { fieldSection } from './sections/field.mjs'
import { givesSection } from './sections/gives.mjs'
import { growthSection } from './sections/growth.mjs'
import { latencySection } from './sections/latency.mjs'
import { longQuerySection } from './sections/long-query.mjs'
import { memorySection } from './sections/memory.mjs'
import { mixSection } from './sections/mix.mjs'
import { overlapSection } from './sections/overlap.mjs'
import { progressSection } from './sections/progress.mjs'
import { startUpSection } from './sections/start-up.mjs'
import { targetsSection } from './sections/targets.mjs'

/** All measurements as Markdown that is also readable in a terminal. */
export function report(measured, settings) {
  if (settings.quick) return quickReport(measured)
  const sections = [
    machineLine(measured),
    givesSection(measured),
    fieldSection(measured, settings),
    mixSection(measured, settings, 'alternating'),
    mixSection(measured, settings, 'unsafe'),
    extrasSection(measured, settings),
    growthSection(measured),
    longQuerySection(measured),
    memorySection(measured),
    latencySection(measured),
    overlapSection(measured),
    progressSection(measured),
    startUpSection(measured),
    bundleSection(measured),
    targetsSection(measured, settings),
  ]
  return sections.join('\n\n')
}

/** The times of a single round are not meaningful, so they are not shown. */
function quickReport(measured) {
  const { about, leftOut, machine } = measured
  const ran = `${Object.keys(about).length} engines ran on Node ${machine.node}, and each did what it says.`
  return [givesSection(measured), [ran, ...missing(leftOut)].join(' ')].join('\n\n')
}

const missing = (leftOut) => leftOut.map(({ engine, needs }) => `Left out: ${engine}, because ${needs}.`)

function machineLine({ machine, how: { rounds, largeRounds, isCpu }, leftOut }) {
  const { cpu, cores, node, platform, date, load } = machine
  return [
    `${cpu}, ${cores} cores, ${platform}, Node ${node}, ${date}.`,
    `Rounds: ${rounds}, at N=10,000 ${largeRounds}.`,
    ...(isCpu ? ['The overhead is processor time of all threads, not time on the clock.'] : []),
    `Load of the last five minutes, the bench included: ${load.toFixed(1)}.`,
    ...missing(leftOut),
  ].join(' ')
}
