import { useEffect, useRef } from 'preact/hooks'
import { useStore } from '../use-view.ts'

const keys: readonly (readonly [string, string])[] = [
  ['Ctrl+K', 'find a call or a text in every turn'],
  ['← →', 'one frame back or forward; fifty with Shift'],
  ['Home, End or l', 'the first frame, the newest frame'],
  ['Space', 'play'],
  ['j k', 'next call, previous call'],
  ['1 to 9, 0', 'the tabs'],
  ['/', 'search the log'],
  ['[ and ]', 'select the time from this moment, until this moment'],
  ['c', 'show or hide the conversation'],
  ['Esc', 'close this, leave full screen, clear the selection'],
]

/** The keys. */
export function Help() {
  const store = useStore()
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => button.current?.focus(), [])
  return (
    <div class="dialog help" role="dialog" aria-label="Keys">
      <h2>Keys</h2>
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
      <button ref={button} type="button" class="link" onClick={() => store.set({ dialog: undefined })}>
        close
      </button>
    </div>
  )
}
