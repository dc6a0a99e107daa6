import { checkCoverage } from '../../../src/inspect/index.ts'
import type { Store } from '../store.ts'

export const isCoverage = (beginning: string): boolean => /^\s*\{\s*"signalbox"\s*:\s*"coverage"/.test(beginning)

/** Shows a coverage file as heat on the charts, or an error. */
export function openCoverage(store: Store, text: string): void {
  const coverage = checkCoverage(text)
  if (typeof coverage === 'string') store.set({ problem: coverage })
  else store.set({ coverage, heat: 'file', problem: undefined })
}
