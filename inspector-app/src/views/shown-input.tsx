import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Encoded } from '../../../src/inspect/index.ts'
import { gutterOf, showInput } from '../../../src/permission/shown-input.ts'

interface Props {
  readonly input: Encoded
  /** The end of the input was in view. */
  readonly onSeen?: () => void
}

/** More at once would block the page. The next ones follow when the last of these is in view. */
const linesAtOnce = 2_000

/** An input complete and with nothing invisible, an edit as a diff. */
export function ShownInput({ input, onSeen }: Props) {
  const box = useRef<HTMLPreElement>(null)
  const [most, setMost] = useState(linesAtOnce)
  // also hashes the texts, so not at each drawing
  const lines = useMemo(() => showInput(input), [input])
  const look = (): void => {
    const pre = box.current
    // without a height it is not shown at all
    if (pre === null || pre.clientHeight === 0) return
    if (pre.scrollTop + pre.clientHeight < pre.scrollHeight - 2) return
    if (most < lines.length) setMost(most + linesAtOnce)
    else onSeen?.()
  }
  useEffect(look)
  const drawn = useMemo(
    () =>
      lines.slice(0, most).map((line, index) => (
        <span key={index} class={line.kind}>
          <i>{gutterOf(line)}</i>
          {`${line.text}\n`}
        </span>
      )),
    [lines, most],
  )
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled with the keyboard
    <pre ref={box} class="input" dir="ltr" tabIndex={0} onScroll={look}>
      {drawn}
      {most < lines.length && (
        <span class="field">… {(lines.length - most).toLocaleString('en')} more lines: scroll on</span>
      )}
    </pre>
  )
}
