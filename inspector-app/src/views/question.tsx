import { useState } from 'preact/hooks'
import type { EncodedQuestion } from '../../../src/inspect/index.ts'
import { visibleLine } from '../../../src/permission/visible-text.ts'
import { hasTag } from '../model/has-tag.ts'
import { visibleText } from '../plain-text.ts'
import { askedWords } from '../words.ts'
import { ShownInput } from './shown-input.tsx'

interface Props {
  readonly asked: EncodedQuestion
  readonly label: string
  /** The title of the agent's run, if an agent asks. */
  readonly agent: string | undefined
  readonly canAnswer: boolean
  readonly select: () => void
  readonly answer: (allow: boolean, more: { message?: string; always?: boolean }) => void
}

/** A call that waits for permission, with its whole input. Allow is enabled once all of it was in view. */
export function Question({ asked, label, agent, canAnswer, select, answer }: Props) {
  const { input, because, message, rule } = asked
  const [isRead, setRead] = useState(false)
  const [reason, setReason] = useState('')
  const isWhole = !hasTag(input)
  const mayAllow = isRead && isWhole
  /** The second click of a double click is not about the question that takes the place of this one. */
  const once =
    (act: () => void) =>
    ({ detail }: MouseEvent): void => {
      if (detail <= 1) act()
    }
  const hint = isWhole ? 'Scroll to the end of the input first' : 'The input is truncated'
  return (
    <article class="question">
      <header>
        <button type="button" class="link" onClick={select}>
          {label}
        </button>
        <span class="asks">
          asks for permission{agent !== undefined && ` for ${visibleText(agent)}`}
          {because !== undefined && `, ${askedWords(because)}`}
          {message !== undefined && `: ${visibleLine(message)}`}
        </span>
      </header>
      <ShownInput input={input} onSeen={() => setRead(true)} />
      {!isWhole && <p class="cut">The input is truncated, so you cannot allow this call here.</p>}
      {canAnswer && (
        <div class="answers">
          <button
            type="button"
            class="allow"
            disabled={!mayAllow}
            title={mayAllow ? 'Allow this call' : hint}
            onClick={once(() => answer(true, {}))}
          >
            Allow
          </button>
          {rule !== undefined && (
            <button
              type="button"
              disabled={!mayAllow}
              title={mayAllow ? 'Allow every such call from now on' : hint}
              onClick={once(() => answer(true, { always: true }))}
            >
              Always: <code>{visibleLine(rule)}</code>
            </button>
          )}
          <button
            type="button"
            class="deny"
            onClick={once(() => answer(false, reason === '' ? {} : { message: reason }))}
          >
            Deny
          </button>
          <input
            type="text"
            aria-label="Why you deny it, for the model"
            placeholder="why, for the model (optional)"
            maxLength={2_000}
            value={reason}
            onInput={({ currentTarget }) => setReason(currentTarget.value)}
          />
        </div>
      )}
    </article>
  )
}
