import type { Message } from '../../src/index.ts'
import { resultTexts } from '../../src/results/result-texts.ts'
import { resultOf } from '../support/turn.ts'
import { denial } from './held-host.ts'
import { unknownName } from './turn-view.ts'

const returnedNote =
  / It returned after it was told to stop\. It may have done all or part of its work\.\nIts output so far:\n\S+ done/

/** A message in the model's terms; unknown parts stay unchanged. */
export function messageInWords(message: Message, labelOf: (id: string) => string): string {
  if (message.type === 'progress') {
    const dropped = message.dropped === undefined ? '' : `, ${message.dropped} dropped`
    return `${labelOf(message.parentToolUseID)} progress ${message.data}${dropped}`
  }
  if (message.type === 'attachment') return `${labelOf(message.toolUseID ?? 'nobody')} ${message.attachment.type}`
  if (message.type === 'system') return `${labelOf(String(message.toolUseID))} ${message.subtype}`
  const block = resultOf({ message })
  const label = labelOf(block.tool_use_id)
  const content = String(block.content)
  if (block.is_error !== true) return `${label} ${content === `${label} done` ? 'success' : `success with ${content}`}`
  const hasReturned = returnedNote.test(content)
  const ending = endingInWords(content.replace(returnedNote, ''), label, labelOf)
  return `${label} ${ending}${hasReturned ? ', but returned' : ''}`
}

function endingInWords(content: string, label: string, labelOf: (id: string) => string): string {
  if (content === resultTexts.unknownTool(unknownName).content) return 'unknown tool'
  if (content === resultTexts.denied(denial).content) return 'denied'
  if (content.startsWith('<tool_use_error>InputValidationError: ')) return 'invalid input'
  if (content.startsWith('<tool_use_error>') && content.includes(`${label} broke`)) return 'failed'
  const culprit = /^<tool_use_error>Cancelled: parallel tool call (.+) errored<\/tool_use_error>$/.exec(content)?.[1]
  if (culprit !== undefined) return `cancelled because of ${culprit}`
  const taken = /^<tool_use_error>Error: The id "(.+)" was already used/.exec(content)?.[1]
  if (taken !== undefined) return `clash with ${labelOf(taken)}`
  if (content.startsWith('The user stopped this call')) return 'stopped by the user'
  if (content.startsWith('This call was cancelled before it started')) return 'cancelled before it started'
  return content
}
