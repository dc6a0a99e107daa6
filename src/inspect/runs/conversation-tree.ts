import type { SeenRuns } from './read-run.ts'
import type { SeenRun } from './seen-run.ts'

/** A run in its conversation: the call that it works for, and the runs of the agents of its own calls. */
export interface Branch<Self> {
  /** The number of the run in the recording. */
  readonly run: number
  readonly seen: SeenRun
  readonly parent: { readonly branch: Self; readonly call: string } | undefined
  /** 0: a turn of the conversation itself. 1: of an agent, and so on. */
  readonly depth: number
  /** By their start. */
  readonly agents: Self[]
}

/** The runs of a recording by their start. */
export function conversationTree<Self extends Branch<Self>>(
  { byNumber }: Pick<SeenRuns, 'byNumber'>,
  make: (branch: Branch<Self>) => Self,
): Self[] {
  const runs = [...byNumber].sort(([, a], [, b]) => a.startedAt - b.startedAt)
  const made = new Map<number, Self>()
  for (const [run, seen] of runs) {
    const { parentToolUseID: call, parentRun = -1 } = seen
    // a run around that begins later can only be in a recording that somebody wrote
    const owner = made.get(parentRun)
    const parent = owner === undefined || call === undefined ? undefined : { branch: owner, call }
    const branch = make({ run, seen, parent, depth: owner === undefined ? 0 : owner.depth + 1, agents: [] })
    made.set(run, branch)
    owner?.agents.push(branch)
  }
  return [...made.values()]
}
