import { useView } from '../use-view.ts'
import { duration } from '../words.ts'

/** Says what a live page no longer has. */
export function KeptNote() {
  const { history } = useView()
  if (history.start === 0) return null
  const kept = (history.length - history.start).toLocaleString('en')
  return (
    <p class="kept" role="note">
      This page keeps the newest {kept} frames, from {duration(history.startedAt)} on.{' '}
      {history.start.toLocaleString('en')} earlier frames are gone, with the runs and results that ended in them.
    </p>
  )
}

/** Where a run that goes on after a crash or a suspension comes from. */
export function RecoveredNote() {
  const { run } = useView()
  if (run?.recovered === undefined) return null
  const { session, from, by } = run.recovered
  return (
    <p class="recovered-note" role="note">
      Recovered by <b>{by}</b> from the log of session <b>{session}</b>
      {from !== null && `, which ${from} had open before`}. Results from the log are striped.
    </p>
  )
}

/** Says why a recording may be shown wrongly. */
export function OddNote() {
  const { misplaced, missing, setBack } = useView().history
  if (misplaced === 0 && missing === 0 && setBack === 0) return null
  return (
    <p class="kept" role="note">
      {missing > 0 && misplaced === 0 && `Missing: ${frames(missing)}. The page may show states that never were. `}
      {misplaced > 0 && `Out of order: ${frames(misplaced)}. The page may show states that never were. `}
      {setBack > 0 && `The clock goes back: ${frames(setBack)} with an earlier time. Durations may be too short.`}
    </p>
  )
}

const frames = (count: number): string => (count === 1 ? 'one frame' : `${count.toLocaleString('en')} frames`)
