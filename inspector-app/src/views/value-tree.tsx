import type { Encoded } from '../../../src/inspect/index.ts'
import { inline, tagged } from '../words.ts'

type Fields = { readonly [key: string]: Encoded }

/** Any encoded value, as text only: its content never becomes markup. */
export function ValueTree({ value, depth = 0 }: { value: Encoded; depth?: number }) {
  if (typeof value === 'string') {
    return value.includes('\n') || value.length > 90 ? (
      <pre class="value text">{value}</pre>
    ) : (
      <span class="value text">{value}</span>
    )
  }
  if (typeof value !== 'object' || value === null) return <span class="value plain">{String(value)}</span>
  if (Array.isArray(value))
    return <Branch fields={Object.entries(value as readonly Encoded[])} depth={depth} marks="[]" />
  const fields = value as Fields
  if (typeof fields.$ === 'string') return <Tagged value={fields} depth={depth} />
  return <Branch fields={Object.entries(fields)} depth={depth} marks="{}" />
}

function Tagged({ value, depth }: { value: Fields; depth: number }) {
  if (value.$ === 'text') return <pre class="value text">{tagged(value)}</pre>
  const inner = value.fields ?? value.items ?? value.entries
  if (inner === undefined || typeof inner !== 'object') return <span class="value odd">{tagged(value)}</span>
  return (
    <>
      <span class="value odd">{typeof value.name === 'string' ? value.name : String(value.$)} </span>
      <ValueTree value={inner} depth={depth + 1} />
    </>
  )
}

function Branch({ fields, depth, marks }: { fields: [string, Encoded][]; depth: number; marks: string }) {
  if (fields.length === 0) return <span class="value plain">{marks}</span>
  const isShort = inline(Object.fromEntries(fields), 61).length <= 60
  if (depth > 0 && isShort) return <span class="value plain">{inline(Object.fromEntries(fields))}</span>
  return (
    <details class="tree" open={depth < 2}>
      <summary>
        {marks[0]}
        {fields.length}
        {marks[1]}
      </summary>
      <ul>
        {fields.slice(0, 200).map(([key, value]) => (
          <li key={key}>
            <span class="key">{key}</span> <ValueTree value={value} depth={depth + 1} />
          </li>
        ))}
      </ul>
    </details>
  )
}
