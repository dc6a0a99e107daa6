import { whenSettled } from '../base/when-settled.ts'
import type { QueryLoop } from './query-loop.ts'

/** Gathers what goes to the model: what was sent enters the conversation, and the host may change what is seen of it. */
export function prepare(loop: QueryLoop): void {
  const { transcript, options } = loop
  if (loop.isSteered) transcript.letGo()
  loop.isSteered = false
  // while the service goes on with a call of its own, nothing but results may be said
  if (!transcript.awaitsService) takeSent(loop)
  const { prepareMessages } = options
  const { messages } = transcript
  whenSettled(
    () => (prepareMessages === undefined ? messages : prepareMessages([...messages])),
    (prepared) => {
      if (!Array.isArray(prepared)) {
        return loop.tell({ type: 'turn.failed', error: new TypeError('prepareMessages must return messages.') })
      }
      loop.request = prepared
      loop.tell({ type: 'turn.prepared' })
    },
    (error) => loop.tell({ type: 'turn.failed', error }),
  )
}

/** What was sent enters the conversation. */
export function takeSent({ sent, transcript, outgoing }: QueryLoop): void {
  for (const message of sent.splice(0)) {
    transcript.push(message)
    outgoing.push(message)
  }
}
