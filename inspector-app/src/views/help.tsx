import { useEffect, useRef } from 'preact/hooks'
import { useStore } from '../use-view.ts'
import { Dialog } from './dialog.tsx'

const keys: readonly (readonly [string, string])[] = [
  ['Ctrl+K', 'find a call or a text in every turn, or a turn by its number'],
  ['← →', 'one frame back or forward; fifty with Shift'],
  ['Home, End or l', 'the first frame, the newest frame'],
  ['Space', 'play'],
  ['j k', 'next call, previous call'],
  ['1 to 9, 0', 'the tabs'],
  ['/', 'search the log'],
  ['[ and ]', 'select the time from this moment, until this moment'],
  ['c', 'show or hide the conversation'],
  ['↑ ↓', 'in the conversation: the line above or below; Enter selects it'],
  ['Esc', 'close this, leave full screen, clear the selection'],
]

const questions: readonly (readonly [question: string, answer: string])[] = [
  ['Why does a call wait?', 'Select it: Call says why, and for which calls.'],
  ['Who cancelled whom?', 'Aborts, for every turn.'],
  ['Which guard said no, and why?', 'Guards: Refusals, for every turn.'],
  ['Which rule decided?', 'Select the call: Decision.'],
  ['Where did the time go?', 'Totals, in the timeline.'],
  ['What did the model get back?', 'Select the call: Exactly what the model got.'],
  ['What did an agent cost?', 'Below its call in the conversation.'],
  ['What happened between two moments?', 'Drag over the timeline: every list shows only that time.'],
]

/** The keys, and where to find the answers to common questions. */
export function Help() {
  const store = useStore()
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => button.current?.focus(), [])
  return (
    <Dialog label="Keys" kind="help">
      <header>
        <h2>Keys</h2>
        <button ref={button} type="button" class="link" onClick={() => store.set({ dialog: undefined })}>
          close
        </button>
      </header>
      <dl>
        {keys.map(([key, words]) => (
          <>
            <dt key={key}>
              <kbd>{key}</kbd>
            </dt>
            <dd>{words}</dd>
          </>
        ))}
      </dl>
      <h2>Questions</h2>
      <dl class="questions">
        {questions.map(([question, answer]) => (
          <>
            <dt key={question}>{question}</dt>
            <dd>{answer}</dd>
          </>
        ))}
      </dl>
    </Dialog>
  )
}
