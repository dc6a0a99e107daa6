import type { ContentBlock } from '../../messages/message.ts'
import { keepData } from '../kept-data.ts'
import { asList, asRecord, asText } from '../read-event.ts'
import type { ReplyWriter } from '../reply-writer.ts'
import { addDetails } from './chat-reasoning.ts'

type Fields = Record<string, unknown>

/** An open block of text or thinking, with the data that the service needs back. */
interface Words {
  readonly kind: 'text' | 'thinking'
  readonly block: number
  readonly kept: Fields
}

/** Fields of a delta that hold reasoning as text. Services use one of them, or send the same text in both. */
const reasoningFields = ['reasoning_content', 'reasoning'] as const

/** Writes the text and the reasoning of a chat reply as blocks. `beforeNew` is called before another block begins. */
export function chatWords(writer: ReplyWriter, beforeNew: () => void) {
  let words: Words | undefined

  const close = () => {
    if (words === undefined) return
    const { block, kept } = words
    words = undefined
    const signature = Object.keys(kept).length > 0 ? keepData('openai_chat', kept) : undefined
    if (signature !== undefined) writer.delta(block, { type: 'signature_delta', signature })
    writer.close(block)
  }
  const open = (kind: Words['kind']): Words => {
    if (words?.kind === kind) return words
    close()
    beforeNew()
    const block: ContentBlock =
      kind === 'text' ? { type: 'text', text: '' } : { type: 'thinking', thinking: '', signature: '' }
    words = { kind, block: writer.open(block), kept: {} }
    return words
  }

  const say = (text: string | undefined) => {
    if (text !== undefined) writer.delta(open('text').block, { type: 'text_delta', text })
  }
  /** `field` is the field in which the reasoning came; it is sent back in the same field. */
  const think = (field: string, thinking: string | undefined) => {
    if (thinking === undefined) return
    const { block, kept } = open('thinking')
    kept.field ??= field
    writer.delta(block, { type: 'thinking_delta', thinking })
  }

  const takeReasoning = (delta: Fields) => {
    const field = reasoningFields.find((each) => asText(delta[each]) !== undefined)
    if (field !== undefined) think(field, asText(delta[field]))
    const details = asList(delta.reasoning_details)
    if (details.length === 0) return
    const { kept } = open('thinking')
    kept.reasoning_details = addDetails(asList(kept.reasoning_details), details)
  }
  const takeContent = (content: unknown) => {
    if (typeof content === 'string') return say(asText(content))
    for (const each of asList(content)) {
      const part = asRecord(each)
      if (part?.type === 'text') say(asText(part.text))
      // Mistral: a part whose text is a list of parts
      else if (part?.type === 'thinking') think('content', asText(textOfParts(part.thinking)))
    }
  }

  return {
    close,
    say,
    take(delta: Fields) {
      takeReasoning(delta)
      takeContent(delta.content)
      // Gemini: a signature on text
      const extra = asRecord(delta.extra_content)
      if (extra !== undefined && words?.kind === 'text') words.kept.extra_content = extra
    },
  }
}

const textOfParts = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : asList(content)
        .map((part) => asText(asRecord(part)?.text) ?? '')
        .join('')
