import { visibleLine } from '../../../src/permission/visible-text.ts'
import { useStore, useView } from '../use-view.ts'
import { Question } from './question.tsx'

/** Calls that wait for permission. If the host allows it, they can be answered here; the first answer counts. */
export function Questions() {
  const store = useStore()
  const { run, state } = useView()
  if (run === undefined || run.questions.length === 0) return null
  const isLive = state.source === 'live' && state.position === undefined && state.allowed.includes('answer')
  const answer = async (call: string, allow: boolean): Promise<void> => {
    const problem = await store.feed?.command(run.id, 'answer', { call, allow })
    if (problem !== undefined) store.set({ problem })
  }
  return (
    <section class="questions" aria-label="Open questions" aria-live="polite">
      {run.questions.slice(0, 4).map(({ call, name, input }) => (
        <Question
          key={call}
          call={call}
          // the label contains text from the model
          label={visibleLine(run.byId.get(call)?.label ?? name)}
          input={input}
          canAnswer={isLive}
          select={() => store.select(call)}
          answer={(allow) => void answer(call, allow)}
        />
      ))}
      {run.questions.length > 4 && <p>and {run.questions.length - 4} more</p>}
    </section>
  )
}
