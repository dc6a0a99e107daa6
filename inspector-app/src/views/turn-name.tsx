import type { Run } from '../model/model.ts'
import { useView } from '../use-view.ts'

/** The turn or the agent that an entry belongs to, where there are several. */
export function TurnName({ run }: { run: Run }) {
  const { model } = useView()
  return model.runs.size > 1 ? <span class="turn-name">{run.title}</span> : null
}
