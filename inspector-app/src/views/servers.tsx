import { firstChart } from '../model/first-chart.ts'
import type { Server } from '../model/model.ts'
import { serverState } from '../model/server-state.ts'
import { useStore, useView } from '../use-view.ts'

const mostChips = 40

/** The connections that calls depend on: state, problem, and waiting calls. A click shows the chart. */
export function Servers() {
  const { model, run, state } = useView()
  if (model.servers.size === 0) return null
  const shown = firstChart(state, model, run)?.cast
  return (
    <ul class="servers" aria-label="Servers">
      {[...model.servers.values()].slice(0, mostChips).map((server) => (
        <li key={server.id}>
          <Chip server={server} isShown={server === shown} />
        </li>
      ))}
      {model.servers.size > mostChips && <li class="more">and {model.servers.size - mostChips} more</li>}
    </ul>
  )
}

function Chip({ server, isShown }: { server: Server; isShown: boolean }) {
  const store = useStore()
  const { state, words, problem } = serverState(server)
  const waiting = server.waiting.size
  return (
    <button
      type="button"
      class="server"
      data-state={state}
      aria-pressed={isShown}
      title={`${server.name}: ${words}${problem === undefined ? '' : `, ${problem}`}`}
      onClick={() => store.set({ first: isShown ? 'executor' : server.id })}
    >
      <i key={server.actors.get(server.root)?.last?.seq} />
      <b>{server.name}</b>
      <span class="state-words">{words}</span>
      {problem !== undefined && <span class="why">{problem}</span>}
      {waiting > 0 && <em>{waiting === 1 ? 'one call waits' : `${waiting} calls wait`}</em>}
    </button>
  )
}
