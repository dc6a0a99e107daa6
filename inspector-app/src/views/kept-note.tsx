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
