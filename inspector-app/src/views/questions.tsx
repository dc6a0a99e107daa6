import { useStore, useView } from '../use-view.ts'
import { inline } from '../words.ts'

/** Calls that wait for a permission. Where the host allows it, the answer can be given here; the first one counts. */
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
        <article key={call} class="question">
          <button type="button" class="link" onClick={() => store.select(call)}>
            {run.byId.get(call)?.label ?? name}
          </button>
          <span class="asks">asks for permission</span>
          <code title={inline(input, 2_000)}>{inline(input, 120)}</code>
          {isLive && (
            <span class="answers">
              <button type="button" class="allow" onClick={() => void answer(call, true)}>
                Allow
              </button>
              <button type="button" class="deny" onClick={() => void answer(call, false)}>
                Deny
              </button>
            </span>
          )}
        </article>
      ))}
      {run.questions.length > 4 && <p>and {run.questions.length - 4} more</p>}
    </section>
  )
}
