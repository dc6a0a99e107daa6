import { describeValue } from '../base/describe-value.ts'
import { whenSettled } from '../base/when-settled.ts'
import type { Message } from '../messages/message.ts'
import type { QueryLoop } from './query-loop.ts'

/** The state `preparing`: adds sent messages to the transcript, and lets `prepareMessages` change the request. */
export function prepare(loop: QueryLoop): void {
  const { transcript } = loop
  if (loop.isSteered) transcript.letGo()
  loop.isSteered = false
  // while the service continues its own call, only results may be sent
  const entered = transcript.awaitsService ? [] : [...takeOutcomes(loop), ...takeSent(loop)]
  const goOn = (isDurable: boolean): void => {
    // a log that fails ends the query by itself
    if (!isDurable) return
    for (const message of [...entered, ...(loop.log?.takeReports() ?? [])]) loop.emit(message)
    // an interrupt that came meanwhile adds its message first
    if (loop.isSteered) loop.tell({ type: 'turn.prepared' })
    else gather(loop)
  }
  // every message is durable before it is shown, and before a request has it
  const flushing = loop.log?.flushContent()
  if (flushing === undefined) goOn(true)
  else void flushing.then(goOn)
}

function gather(loop: QueryLoop): void {
  const { prepareMessages } = loop.options
  const { messages } = loop.transcript
  whenSettled(
    () => (prepareMessages === undefined ? messages : prepareMessages([...messages])),
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

/** Adds the outcomes of background calls to the transcript. Returns them. */
export function takeOutcomes({ background, transcript }: QueryLoop): Message[] {
  const outcomes = background.takeOutcomes()
  for (const message of outcomes) transcript.push(message)
  return outcomes
}

const notMessages = (received: unknown): TypeError =>
  new TypeError(`prepareMessages: expected an array of messages, received ${describeValue(received, 80)}.`)

/** Adds sent messages to the transcript. Returns them. */
export function takeSent({ sent, transcript, entered, loopGuard }: QueryLoop): Message[] {
  if (sent.length > 0) loopGuard?.reset()
  const messages = sent.splice(0)
  for (const message of messages) {
    transcript.push(message)
    entered.push(message.uuid)
  }
  return messages
}
