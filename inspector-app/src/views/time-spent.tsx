import { timeSplit } from '../model/time-split.ts'
import { useView } from '../use-view.ts'
import { duration } from '../words.ts'
import { Still } from './still.tsx'
import { useNow } from './use-now.ts'

const mostTools = 12

/** Where the time of the conversation went. Added up twice per second at most. */
export function TimeSpent() {
  const { model, history, state } = useView()
  const now = useNow()
  return (
    <Still
      of={[history, model.runs.size === 0, Math.floor(now / 500), state.position]}
      draw={() => <Split runs={model.runs} at={now} />}
    />
  )
}

function Split(moment: Parameters<typeof timeSplit>[0]) {
  const { whole, tools, people, model: thinking, byTool } = timeSplit(moment)
  if (whole <= 0) return null
  const share = (ms: number): string => `${Math.round((ms / whole) * 100)}\u00a0%`
  return (
    <details class="time-spent">
      <summary>
        {duration(whole)}: model {share(thinking)}, tools {share(tools)}, you {share(people)}
      </summary>
      <table>
        <tbody>
          {byTool.slice(0, mostTools).map(({ name, calls, ms }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{calls === 1 ? 'one call' : `${calls} calls`}</td>
              <td>{duration(ms)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  )
}
