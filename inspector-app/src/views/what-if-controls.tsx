import type { Experiment } from '../model/experiment.ts'
import { useView } from '../use-view.ts'

interface Props {
  readonly experiment: Experiment
  readonly change: (how: () => void) => void
}

/** With more tools, only single calls can be marked. */
const mostTools = 12

/** Controls for the limit, for the class of all calls of a tool, and the reset. */
export function WhatIfControls({ experiment, change }: Props) {
  const { run } = useView()
  const recorded = run?.maxConcurrency ?? null
  const { limit = recorded ?? Number.POSITIVE_INFINITY, marks } = experiment
  const setLimit = (to: number): void => {
    if (to >= 1) change(() => Object.assign(experiment, { limit: to === (recorded ?? Infinity) ? undefined : to }))
  }
  return (
    <div class="controls">
      <label>
        At once
        <input
          type="number"
          min="1"
          step="1"
          aria-label="How many safe calls may run at once"
          placeholder="no limit"
          value={Number.isFinite(limit) ? limit : ''}
          onInput={({ currentTarget: { value } }) =>
            setLimit(value === '' ? Number.POSITIVE_INFINITY : Math.floor(Number(value)))
          }
        />
      </label>
      {experiment.limit !== undefined && <span class="was">recorded: {recorded ?? 'no limit'}</span>}
      {toolsOf(experiment)
        .slice(0, mostTools)
        .map(({ name, ids, isSafe, isMixed }) => (
          <button
            type="button"
            key={name}
            class={isMixed ? 'mark mixed' : `mark ${isSafe ? 'shared' : 'exclusive'}`}
            title={`Mark all calls of ${name} as ${isSafe ? 'unsafe' : 'safe'}`}
            onClick={() =>
              change(() => {
                for (const { id, was } of ids) mark(marks, id, was, !isSafe)
              })
            }
          >
            {name}: {isMixed ? 'some safe' : isSafe ? 'safe' : 'unsafe'}
          </button>
        ))}
    </div>
  )
}

/** Marking a call as recorded removes the mark. */
export function mark(marks: Map<string, boolean>, id: string, was: boolean, isSafe: boolean): void {
  if (was === isSafe) marks.delete(id)
  else marks.set(id, isSafe)
}

interface MarkedTool {
  readonly name: string
  readonly ids: { readonly id: string; readonly was: boolean }[]
  isSafe: boolean
  isMixed: boolean
}

function toolsOf({ result, marks }: Experiment): MarkedTool[] {
  const tools = new Map<string, MarkedTool>()
  for (const { id, name, isSafe: was, ended } of result?.recorded.calls ?? []) {
    // a call that was answered without running has no lane
    if (ended === 'answer') continue
    const isSafe = marks.get(id) ?? was
    const tool = tools.get(name) ?? { name, ids: [], isSafe, isMixed: false }
    tools.set(name, tool)
    tool.ids.push({ id, was })
    tool.isMixed ||= tool.isSafe !== isSafe
  }
  return [...tools.values()]
}
