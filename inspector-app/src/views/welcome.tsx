import { useView } from '../use-view.ts'
import { Emblem } from './emblem.tsx'
import { Sessions } from './sessions.tsx'

/** The empty state. */
export function Welcome() {
  const { state } = useView()
  const isWaiting = state.source === 'connecting' || state.source === 'live' || state.source === 'recording'
  const hasSessions = state.sessions !== undefined
  return (
    <main class="welcome">
      <Emblem size={72} />
      <h2>{hasSessions ? 'Stored sessions' : isWaiting ? 'Waiting for the first call' : 'Open a recording'}</h2>
      {hasSessions && <Sessions />}
      <p>
        {isWaiting
          ? 'Executors appear here as soon as they exist.'
          : 'Drop a recording or a coverage file here, or use the button at the top. To watch a running program, open the full address that it printed, including the part after the #.'}
      </p>
    </main>
  )
}
