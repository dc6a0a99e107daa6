import { readField } from '../base/read-field.ts'
import { createAssistantMessage, createToolResultMessage, createUserMessage } from '../messages/create-messages.ts'
import type { IdsAndTime } from '../messages/ids-and-time.ts'
import type { ContentBlock, ToolResultBlock } from '../messages/message.ts'
import type { Entry, Form } from './entry.ts'
import { withFields } from './unknown-values.ts'

/** Writes the messages in the form in which they came. Unchanged messages are the given objects. */
export function writeEntries(entries: readonly Entry[], form: Form, idsAndTime: IdsAndTime): unknown[] {
  const written = new Map<Entry, unknown>()
  for (const entry of entries)
    written.set(entry, form === 'own' ? writeOwn(entry, written, idsAndTime) : writePlain(entry))
  return [...written.values()]
}

const contentOf = ({ slots }: Entry): ContentBlock[] => slots.map(({ block }) => block)

function writePlain(entry: Entry): unknown {
  const { state, side, source } = entry
  if (state === 'kept') return source
  const fields = { role: side, content: contentOf(entry) }
  return state === 'changed' ? withFields(source, fields) : fields
}

function writeOwn(entry: Entry, written: ReadonlyMap<Entry, unknown>, idsAndTime: IdsAndTime): unknown {
  const { state, side, source, reply, answers, toolUseResult } = entry
  const id = reply === undefined ? {} : { id: reply }
  const content = contentOf(entry)
  if (state === 'kept') return source
  if (state === 'changed') {
    const message = withFields(readField(source, 'message'), { ...id, role: side, content })
    return withFields(source, { type: side, message })
  }
  if (side === 'assistant') return createAssistantMessage(content, id, idsAndTime)
  if (answers === undefined) return createUserMessage(content, idsAndTime)
  const uuid = readField(written.get(answers), 'uuid')
  const sourceToolAssistantUUID = typeof uuid === 'string' ? uuid : ''
  return createToolResultMessage(content[0] as ToolResultBlock, { toolUseResult, sourceToolAssistantUUID }, idsAndTime)
}
