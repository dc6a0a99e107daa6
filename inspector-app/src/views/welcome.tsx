import { useView } from '../use-view.ts'
import { Emblem } from './emblem.tsx'

/** The empty state. */
export function Welcome() {
  const { state } = useView()
  const isWaiting = state.source === 'connecting' || state.source === 'live' || state.source === 'recording'
  return (
    <main class="welcome">
      <Emblem size={72} />
      <h2>{isWaiting ? 'Waiting for the first call' : 'Nothing to show yet'}</h2>
      <p>
        {isWaiting
          ? 'Executors appear here as soon as they exist.'
          : 'Open the full address that the host printed, including the part after the #. Or drop a recording or a coverage file here.'}
      </p>
    </main>
  )
}
