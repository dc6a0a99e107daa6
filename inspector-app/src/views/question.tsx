import { useEffect, useRef, useState } from 'preact/hooks'
import type { Encoded } from '../../../src/inspect/index.ts'
import { gutterOf, showInput } from '../../../src/permission/shown-input.ts'

interface AskedCall {
  readonly call: string
  readonly label: string
  readonly input: Encoded
}

interface Props extends AskedCall {
  readonly canAnswer: boolean
  readonly select: () => void
  readonly answer: (allow: boolean) => void
}

/** A call that waits for permission, with its whole input. Allow is enabled once all of it was in view. */
export function Question({ label, input, canAnswer, select, answer }: Props) {
  const box = useRef<HTMLPreElement>(null)
  const [isRead, setRead] = useState(false)
  const look = (): void => {
    const pre = box.current
    // without a height it is not shown at all
    if (pre === null || pre.clientHeight === 0) return
    if (pre.scrollTop + pre.clientHeight >= pre.scrollHeight - 2) setRead(true)
  }
  useEffect(look)
  const isWhole = !isCut(input)
  return (
    <article class="question">
      <header>
        <button type="button" class="link" onClick={select}>
          {label}
        </button>
        <span class="asks">asks for permission</span>
        {canAnswer && (
          <span class="answers">
            <button
              type="button"
              class="allow"
              disabled={!isRead || !isWhole}
              title={isWhole ? 'Scroll to the end of the input first' : 'The input is truncated'}
              onClick={() => answer(true)}
            >
              Allow
            </button>
            <button type="button" class="deny" onClick={() => answer(false)}>
              Deny
            </button>
          </span>
        )}
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled with the keyboard */}
      <pre ref={box} class="input" dir="ltr" tabIndex={0} onScroll={look}>
        {showInput(input).map((line, index) => (
          <span key={index} class={line.kind}>
            <i>{gutterOf(line)}</i>
            {`${line.text}\n`}
          </span>
        ))}
      </pre>
      {!isWhole && <p class="cut">The input is truncated, so you cannot allow this call here.</p>}
    </article>
  )
}

/** Part of the input is truncated or redacted. */
function isCut(value: Encoded): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some(isCut)
  const record = value as { readonly [key: string]: Encoded }
  return record.$ !== undefined || Object.values(record).some(isCut)
}
