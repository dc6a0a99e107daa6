import { useState } from 'preact/hooks'
import type { Said as SaidText } from '../../../src/inspect/index.ts'
import { duration } from '../words.ts'

const shortLength = 280

/** A text of the user, the model or the host. Long texts and thoughts open on demand. */
export function Said({ said: { by, text, at, until } }: { said: SaidText }) {
  const [isOpen, setOpen] = useState(false)
  const toggle = (): void => setOpen(!isOpen)
  if (by === 'thought') {
    return (
      <div class="said thought">
        <button type="button" aria-expanded={isOpen} onClick={toggle}>
          {isOpen ? '▾' : '▸'} thought{until > at ? ` for ${duration(until - at)}` : ''}
        </button>
        {isOpen && <p>{text}</p>}
      </div>
    )
  }
  const isLong = text.length > shortLength
  return (
    <div class={`said ${by}`}>
      <p>{isLong && !isOpen ? `${text.slice(0, shortLength)}…` : text}</p>
      {isLong && (
        <button type="button" class="link" aria-expanded={isOpen} onClick={toggle}>
          {isOpen ? 'less' : `all ${text.length.toLocaleString('en')} characters`}
        </button>
      )}
    </div>
  )
}
