import { createUserMessage } from '../messages/create-messages.ts'
import type { IdsAndTime } from '../messages/ids-and-time.ts'
import type { BackgroundOrigin, ContentBlock, Message, ToolResultMessage, UserMessage } from '../messages/message.ts'

const endings = {
  finished: 'has finished. Its result:',
  failed: 'has failed. Its result:',
  stopped: 'is over:',
  unknown: 'is over:',
} satisfies { [Status in BackgroundOrigin['status']]: string }

/**
 * The outcome as the model gets it: one user message, never a second tool result. What its hooks and its tool left beside
 * the result follows it, as with any call.
 */
export function outcomeMessages(
  messages: readonly Message[],
  title: string,
  background: BackgroundOrigin,
  idsAndTime: IdsAndTime,
): [UserMessage, ...Message[]] {
  const [result, ...besides] = messages as [ToolResultMessage, ...Message[]]
  const { content } = result.message.content[0]
  const head = `[Background call ${background.id}, ${title}, ${endings[background.status]}]`.toWellFormed()
  const blocks: ContentBlock[] =
    typeof content === 'string'
      ? [{ type: 'text', text: `${head}\n${content}` }]
      : [{ type: 'text', text: head }, ...content]
  const message = createUserMessage(blocks, idsAndTime)
  return [{ ...message, toolUseResult: result.toolUseResult, background }, ...besides]
}
