import { useRef } from 'preact/hooks'
import { useView } from '../src/use-view.ts'
import { Narrator, type Told } from './narrator.ts'

/** The narration up to the moment shown. */
export function useNarration(): readonly Told[] {
  const { history, state, model } = useView()
  const teller = useRef<{ history: typeof history; seen: number; narrator: Narrator }>()
  if (teller.current?.history !== history) teller.current = { history, seen: 0, narrator: new Narrator() }
  const { narrator, seen } = teller.current
  if (history.length > seen) {
    narrator.take(history.from(seen))
    teller.current.seen = history.length
  }
  return state.position === undefined ? narrator.told : narrator.told.filter(({ at }) => at <= model.at)
}
