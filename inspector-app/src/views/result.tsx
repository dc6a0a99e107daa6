import { useState } from 'preact/hooks'
import type { Encoded } from '../../../src/inspect/index.ts'
import type { Call } from '../model/model.ts'
import { CopyButton } from './copy-button.tsx'
import { ValueTree } from './value-tree.tsx'

const shortLength = 1_500

/** Exactly what the model got: as text if it is text, complete on demand. */
export function Result({ result: { content, isError } }: { result: Call['results'][number] }) {
  const [isOpen, setOpen] = useState(false)
  const text = textOf(content)
  if (text === undefined) {
    return (
      <>
        <h4>Exactly what the model got</h4>
        <ValueTree value={content} />
      </>
    )
  }
  const isLong = text.shown.length > shortLength
  return (
    <>
      <h4 class="result-head">
        Exactly what the model got
        <span class="sum">
          {text.length.toLocaleString('en')} characters{isError && ', an error'}
        </span>
        <CopyButton text={text.shown} label="Copy the result" />
        {isLong && (
          <button type="button" class="link" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isOpen ? 'less' : 'expand'}
          </button>
        )}
      </h4>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled with the keyboard */}
      <pre class={isError ? 'got wrong' : 'got'} tabIndex={0}>
        {isLong && !isOpen ? `${text.shown.slice(0, shortLength)}…` : text.shown}
      </pre>
      {text.length > text.shown.length && (
        <p class="cut">
          The recording has the first {text.shown.length.toLocaleString('en')} characters (limits.resultText).
        </p>
      )}
    </>
  )
}

interface Text {
  readonly shown: string
  /** Of the whole text. */
  readonly length: number
}

/** A text, a cut text, or blocks of text. */
function textOf(content: Encoded): Text | undefined {
  if (typeof content === 'string') return { shown: content, length: content.length }
  if (typeof content !== 'object' || content === null) return undefined
  if (Array.isArray(content)) {
    const texts = content.map((block: Encoded) => blockText(block))
    if (texts.length === 0 || texts.some((each) => each === undefined)) return undefined
    const all = texts as Text[]
    return { shown: all.map(({ shown }) => shown).join('\n'), length: all.reduce((sum, { length }) => sum + length, 0) }
  }
  const { $: kind, text, length } = content as { readonly [key: string]: Encoded }
  return kind === 'text' && typeof text === 'string' ? { shown: text, length: Number(length) } : undefined
}

function blockText(block: Encoded): Text | undefined {
  if (typeof block !== 'object' || block === null || Array.isArray(block)) return undefined
  const { type, text } = block as { readonly [key: string]: Encoded }
  return type === 'text' && text !== undefined && !Array.isArray(text) ? textOf(text) : undefined
}
