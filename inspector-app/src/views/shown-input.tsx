import type { Ref } from 'preact'
import type { Encoded } from '../../../src/inspect/index.ts'
import { gutterOf, showInput } from '../../../src/permission/shown-input.ts'

interface Props {
  readonly input: Encoded
  readonly box?: Ref<HTMLPreElement>
  readonly onScroll?: () => void
}

/** An input complete and with nothing invisible, an edit as a diff. */
export function ShownInput({ input, box, onScroll }: Props) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled with the keyboard
    <pre ref={box ?? null} class="input" dir="ltr" tabIndex={0} onScroll={onScroll}>
      {showInput(input).map((line, index) => (
        <span key={index} class={line.kind}>
          <i>{gutterOf(line)}</i>
          {`${line.text}\n`}
        </span>
      ))}
    </pre>
  )
}
