import { whenSettled } from '../base/when-settled.ts'
import type { QueryLoop } from './query-loop.ts'

/** Collects the request for the model: adds sent messages to the transcript, and lets the host change what the model gets. */
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
  // what the model is asked about is durable before it is asked
  const flushing = loop.log?.flush()
  const gather = () => (prepareMessages === undefined ? messages : prepareMessages([...messages]))
  whenSettled(
    () => (flushing === undefined ? gather() : flushing.then(gather)),
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

/** Adds the outcomes of background calls to the transcript. */
export function takeOutcomes({ background, transcript, outgoing }: QueryLoop): void {
  for (const message of background.takeOutcomes()) {
    transcript.push(message)
    outgoing.push(message)
  }
}

/** Adds sent messages to the transcript. */
export function takeSent({ sent, transcript, outgoing, taken }: QueryLoop): void {
  for (const message of sent.splice(0)) {
    transcript.push(message)
    taken.push(message.uuid)
    outgoing.push(message)
  }
}
