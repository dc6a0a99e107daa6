import { openQuestions, questionLabel } from '../model/open-questions.ts'
import { useView } from '../use-view.ts'
import { count } from '../words.ts'

/** Tells screen readers of new questions. It is always there: text in a new live region is often not read. */
export function QuestionNews() {
  const view = useView()
  const open = view.state.source === 'live' ? openQuestions(view) : []
  const newest = open.at(-1)
  return (
    <p class="unseen" role="status">
      {newest !== undefined && `${count(open.length, 'open question')}: ${questionLabel(newest)} asks for permission`}
    </p>
  )
}
