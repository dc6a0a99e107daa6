import { useView } from '../use-view.ts'
import { Emblem } from './emblem.tsx'

/** Before there is anything to see. */
export function Welcome() {
  const { state } = useView()
  const isWaiting = state.source === 'connecting' || state.source === 'live' || state.source === 'recording'
  return (
    <main class="welcome">
      <Emblem size={72} />
      <h2>{isWaiting ? 'Waiting for the first call' : 'Nothing to show yet'}</h2>
      <p>
        {isWaiting
          ? 'As soon as an executor is there, it appears here.'
          : 'Open the whole address that the host printed, with what stands behind its #. Or drop a recording or a coverage file here.'}
      </p>
    </main>
  )
}
