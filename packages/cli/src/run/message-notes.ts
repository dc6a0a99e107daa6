import type { BackgroundOrigin, ModelRetryMessage, QueryMessage } from 'signalbox'
import { nameOf } from '../view/call-view.ts'
import { cleanLine } from '../view/clean-text.ts'
import type { SessionView } from '../view/session-view.ts'

/** The line for a message that the view does not show by itself. */
export function noteOf(message: QueryMessage, session: SessionView): string | undefined {
  if (message.type === 'system' && message.subtype === 'model_retry') return retryWords(message as ModelRetryMessage)
  if (message.type === 'system' && message.subtype === 'limit_warning') return String(message.message)
  if (message.type === 'user' && message.background !== undefined) return outcomeWords(message.background, session)
  return undefined
}

function retryWords({ error, errorKind, delayMs }: ModelRetryMessage): string {
  const soon = delayMs > 0 ? ` in ${(delayMs / 1_000).toFixed(1)} s` : ''
  const [problem = ''] = error.replace(/^\w*Error: /, '').split('\n', 1)
  return `The reply failed (${errorKind}: ${problem.replace(/\.$/, '')}). Retrying${soon}; its partial reply is dropped.`
}

const outcomes = {
  finished: 'has finished',
  failed: 'has failed',
  stopped: 'was stopped',
  unknown: 'has an unknown outcome',
} satisfies { [Status in BackgroundOrigin['status']]: string }

/** A call of an earlier process has no number here. */
function outcomeWords({ id, toolUseID, toolName, status }: BackgroundOrigin, session: SessionView): string {
  const call = session.find(toolUseID)
  return `${call === undefined ? cleanLine(toolName) : nameOf(call)} in the background (${id}) ${outcomes[status]}.`
}
