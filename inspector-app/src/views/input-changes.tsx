import type { Encoded } from '../../../src/inspect/index.ts'
import { showInputText } from '../../../src/permission/shown-input.ts'
import type { Call } from '../model/model.ts'

interface Change {
  readonly by: string
  readonly before: Encoded
  readonly after: Encoded
}

/** The changes of the input by hooks and the host, each as a diff. */
export function InputChanges({ results }: { results: Call['results'] }) {
  const changes = results.flatMap(({ content }) => changeIn(content) ?? [])
  return (
    <>
      {changes.map(({ by, before, after }, at) => (
        <div key={at} class="change">
          <h4>Input, as changed by {by === 'host' ? 'the host, or the person it asked' : `the hook ${by}`}</h4>
          <pre class="diff">
            {diffOf(showInputText(before).split('\n'), showInputText(after).split('\n')).map(([kind, line], index) => (
              <span key={index} class={kind}>
                {`${kind === 'added' ? '+' : kind === 'removed' ? '-' : ' '} ${line}\n`}
              </span>
            ))}
          </pre>
        </div>
      ))}
    </>
  )
}

function changeIn(content: Encoded): Change | undefined {
  if (typeof content !== 'object' || content === null || Array.isArray(content)) return undefined
  const { subtype, by, before, after } = content as { readonly [key: string]: Encoded }
  if (subtype !== 'input_changed' || typeof by !== 'string' || before === undefined || after === undefined) return
  return { by, before, after }
}

type DiffLine = readonly ['same' | 'removed' | 'added', string]

/** The common start and end stay; what is between is replaced. */
function diffOf(before: readonly string[], after: readonly string[]): DiffLine[] {
  let [from, end] = [0, 0]
  while (from < before.length && before[from] === after[from]) from++
  const room = Math.min(before.length, after.length) - from
  while (end < room && before.at(-1 - end) === after.at(-1 - end)) end++
  const as = (kind: DiffLine[0], lines: readonly string[]): DiffLine[] => lines.map((line) => [kind, line])
  return [
    ...as('same', before.slice(0, from)),
    ...as('removed', before.slice(from, before.length - end)),
    ...as('added', after.slice(from, after.length - end)),
    ...as('same', before.slice(before.length - end)),
  ]
}
