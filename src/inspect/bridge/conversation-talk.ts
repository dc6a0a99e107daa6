import type { LimitReached } from '../../../machines/index.ts'
import type { Message } from '../../messages/message.ts'
import type { QueryMessage } from '../../query/query-message.ts'
import type { Recorder } from '../recorder/recorder.ts'

/** Records what a query's message says, for the run of the turn that it belongs to. */
export function recordTalk(recorder: Recorder, run: number, message: QueryMessage): void {
  if (message.type === 'assistant') {
    for (const { by, text } of spokenIn(message.message.content)) recorder.say(run, by, text)
  } else if (message.type === 'user') {
    const text = promptOf(message)
    if (text !== '') recorder.say(run, 'user', text)
  } else if (message.type === 'system' && message.subtype === 'model_reply') {
    const { model, stopReason, usage } = message as { model?: unknown; stopReason?: unknown; usage?: unknown }
    recorder.reply(run, { model, stopReason, usage })
  } else if (message.type === 'system' && message.subtype === 'model_retry') {
    const problem = String(message.error).replace(/\.$/, '')
    recorder.say(run, 'host', `The reply failed: ${problem}. The model is asked again.`)
  } else if (message.type === 'system' && message.subtype === 'limit_warning') {
    recorder.say(run, 'host', String(message.message))
  }
}

/** How a limit ended a run. */
export const limitWords = ({ limit, used, max }: LimitReached): string =>
  `The run ended: limits.${limit} is reached, ${used} of ${max} are used.`

/** The prompt that a query works on: the last message of the user that is not a result. */
export const lastPrompt = (transcript: readonly Message[]): string =>
  transcript.map((message) => (message.type === 'user' ? promptOf(message) : '')).findLast((text) => text !== '') ?? ''

function promptOf({ message: { content } }: Extract<Message, { type: 'user' }>): string {
  if (typeof content === 'string') return content
  if (content.some(({ type }) => type === 'tool_result')) return ''
  return content.flatMap((block) => ('text' in block && typeof block.text === 'string' ? block.text : [])).join('\n')
}

function spokenIn(content: readonly { type: string; [key: string]: unknown }[]) {
  return content.flatMap((block) => {
    if (typeof block.text === 'string' && block.text !== '') return { by: 'model', text: block.text } as const
    const { thinking } = block
    return typeof thinking === 'string' && thinking !== '' ? ({ by: 'thought', text: thinking } as const) : []
  })
}
