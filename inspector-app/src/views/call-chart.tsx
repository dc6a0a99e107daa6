import { useState } from 'preact/hooks'
import { backgroundActor } from '../model/background-actor.ts'
import type { Run } from '../model/model.ts'
import { useView } from '../use-view.ts'
import { ChartPanel } from './chart-panel.tsx'

/** The chart of the selected call; if it is in the background, the chart of that. */
export function CallChart({ run }: { run: Run }) {
  const { call } = useView()
  const [isOwn, setOwn] = useState(false)
  const away = call && backgroundActor(run, call)
  const title = call === undefined ? 'One call' : `#${call.index + 1} ${call.label}`
  if (away !== undefined && !isOwn) {
    const other = { name: 'call', label: 'show the call', onClick: () => setOwn(true) }
    return (
      <ChartPanel
        id="call"
        kind="background"
        cast={run}
        title={`${away.actor.id} ${call?.label}`}
        other={other}
        {...away}
      />
    )
  }
  const actor = call === undefined ? undefined : run.actors.get(call.actor)
  const other = { name: 'background', label: 'show the background call', onClick: () => setOwn(false) }
  return (
    <ChartPanel
      id="call"
      kind="call"
      cast={run}
      title={title}
      actor={actor}
      chart={run.charts.get(actor?.chart ?? 'call')}
      other={away && other}
    />
  )
}
