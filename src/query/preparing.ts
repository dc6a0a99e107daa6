import { describeValue } from '../base/describe-value.ts'
import { whenSettled } from '../base/when-settled.ts'
import type { QueryLoop } from './query-loop.ts'

/** The state `preparing`: adds sent messages to the transcript, and lets `prepareMessages` change the request. */
export function prepare(loop: QueryLoop): void {
  const { transcript, options } = loop
  if (loop.isSteered) transcript.letGo()
  loop.isSteered = false
  // while the service continues its own call, only results may be sent
  if (!transcript.awaitsService) {
    takeOutcomes(loop)
    takeSent(loop)
  }
  const { prepareMessages } = options
  const { messages } = transcript
  // every message of a request is durable before the request is sent
  const flushing = loop.log?.flushContent()
  const gather = () => (prepareMessages === undefined ? messages : prepareMessages([...messages]))
  whenSettled(
    () => (flushing === undefined ? gather() : flushing.then(gather)),
    (prepared) => {
      if (!Array.isArray(prepared)) {
        return loop.tell({ type: 'turn.failed', error: notMessages(prepared) })
      }
      loop.request = prepared
      loop.tell({ type: 'turn.prepared' })
    },
    (error) => loop.tell({ type: 'turn.failed', error }),
  )
}

/** Adds the outcomes of background calls to the transcript. */
export function takeOutcomes({ background, transcript, outgoing }: QueryLoop): void {
  for (const message of background.takeOutcomes()) {
    transcript.push(message)
    outgoing.push(message)
  }
}

const notMessages = (received: unknown): TypeError =>
  new TypeError(`prepareMessages: expected an array of messages, received ${describeValue(received, 80)}.`)

/** Adds sent messages to the transcript. */
export function takeSent({ sent, transcript, outgoing, taken, loopGuard }: QueryLoop): void {
  if (sent.length > 0) loopGuard?.reset()
  for (const message of sent.splice(0)) {
    transcript.push(message)
    taken.push(message.uuid)
    outgoing.push(message)
  }
}
