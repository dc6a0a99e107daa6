import { useState } from 'preact/hooks'
import { openQuestions, questionLabel } from '../model/open-questions.ts'
import { useStore, useView } from '../use-view.ts'
import { Question } from './question.tsx'

/** Calls of any run that wait for permission, always on top. The first answer counts, from here or from the host. */
export function Inbox() {
  const store = useStore()
  const view = useView()
  const [at, setAt] = useState(0)
  const open = openQuestions(view)
  const shown = open[Math.min(at, open.length - 1)]
  if (shown === undefined) return null
  const { run, asked } = shown
  const { state } = view
  const next = open[(open.indexOf(shown) + 1) % open.length]
  const answer = async (allow: boolean, more: { message?: string; always?: boolean }): Promise<void> => {
    const problem = await store.feed?.command(run.id, 'answer', { call: asked.call, allow, ...more })
    if (problem !== undefined) store.set({ problem })
  }
  return (
    <section class="inbox" aria-label="Open questions">
      {open.length > 1 && (
        <p class="count">
          <b>{open.length} questions</b> · {open.indexOf(shown) + 1} of {open.length}
          {next !== undefined && (
            <button type="button" class="link" onClick={() => setAt((open.indexOf(shown) + 1) % open.length)}>
              next: {questionLabel(next)}
            </button>
          )}
        </p>
      )}
      <Question
        key={`${run.id} ${asked.call}`}
        asked={asked}
        label={questionLabel(shown)}
        agent={run.parentToolUseID === undefined ? undefined : run.title}
        canAnswer={state.source === 'live' && state.allowed.includes('answer')}
        select={() => store.choose(run.id, asked.call)}
        answer={(allow, more) => void answer(allow, more)}
      />
    </section>
  )
}
