import { useEffect, useState } from 'preact/hooks'
import { useView } from '../use-view.ts'
import type { Told } from './narrator.ts'
import { storyOf } from './story.ts'

/** Part of the time between two animation frames. */
const budgetMs = 4
/** How often the sentences are redrawn while the page is behind. */
const paintGapMs = 200

/** The sentences up to the moment shown. They continue while the view is shown. */
export function useStory(): { readonly told: readonly Told[]; readonly forgotten: number } {
  const { history, state, model } = useView()
  const [painted, paint] = useState(0)
  const story = storyOf(history)
  const { length } = history
  // most steps are short enough to be told at once
  story.advance(budgetMs)
  const { position } = story
  useEffect(() => {
    // another view of the same story may have gone on since
    if (!story.isBehind && story.position === position) return
    const until = performance.now() + paintGapMs
    let due = requestAnimationFrame(function goOn() {
      story.advance(budgetMs)
      if (story.isBehind && performance.now() < until) due = requestAnimationFrame(goOn)
      else paint((count) => count + 1)
    })
    return () => cancelAnimationFrame(due)
  }, [story, length, painted, position])
  const { forgotten } = story
  return { told: state.position === undefined ? story.told : story.told.filter(({ at }) => at <= model.at), forgotten }
}
