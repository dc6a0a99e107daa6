import { once } from '../../machines/once.ts'
import type { ChartEngine, EngineName } from './chart-engine.ts'
import { runsLike } from './self-test.ts'
import { tableEngine } from './table-engine.ts'
import { xstateEngine } from './xstate-engine.ts'

let usual: EngineName = 'table'

/** For tests that run whole suites on one engine. */
export function useEngine(name: EngineName): void {
  usual = name
}

export const chooseEngine = (name: EngineName = usual): ChartEngine =>
  name === 'table' && tableFits() ? tableEngine : xstateEngine

/** Tested at first use; warns once. */
const tableFits = once((): boolean => {
  const { because } = runsLike(tableEngine, xstateEngine)
  if (because === undefined) return true
  console.warn(
    `Signalbox: the table engine does not fit the installed version of xstate (${because}). The charts run on plain XState instead: slower, and without guard results in the inspector.`,
  )
  return false
})
