import type { Model, Run } from './model.ts'
import { isIn, type TimeRange } from './time-range.ts'

interface Entry {
  readonly seq: number
  readonly at: number
}

/** The entries of every run in a part of the time, oldest first. */
export function ofAllRuns<Of extends Entry>(
  { runs }: Model,
  entriesOf: (run: Run) => readonly Of[],
  range: TimeRange | undefined,
): { readonly run: Run; readonly entry: Of }[] {
  const found = [...runs.values()].flatMap((run) =>
    entriesOf(run).flatMap((entry) => (isIn(range, entry.at) ? [{ run, entry }] : [])),
  )
  return found.sort((a, b) => a.entry.seq - b.entry.seq)
}
