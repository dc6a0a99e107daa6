import { useView } from '../use-view.ts'

/** Before there is anything to see. */
export function Welcome() {
  const { state } = useView()
  const isWaiting = state.source === 'connecting' || state.source === 'live' || state.source === 'recording'
  return (
    <main class="welcome">
      <img src="./icon.svg" alt="" width="72" height="72" />
      <h2>{isWaiting ? 'Waiting for the first call' : 'Nothing to show yet'}</h2>
      <p>
        {isWaiting
          ? 'As soon as an executor is there, it appears here.'
          : 'Open the address that the host printed, or drop a recording or a coverage file here.'}
      </p>
    </main>
  )
}
