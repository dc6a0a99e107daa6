import type { ModelCall } from './model-call.ts'

/** The order of messages: progress as it came, results in emission order, each once. */
export class ModelDelivery {
  readonly handedOver: string[] = []
  /** How many messages the sleeping readers still want in total. */
  wanted = 0
  readonly #calls: readonly ModelCall[]
  readonly #maxBufferedProgress: number
  #progress: { call: ModelCall; text: string }[] = []

  constructor(calls: readonly ModelCall[], maxBufferedProgress: number) {
    this.#calls = calls
    this.#maxBufferedProgress = maxBufferedProgress
  }

  addProgress(call: ModelCall, text: string): void {
    this.#progress.push({ call, text })
    const own = this.#progress.filter((each) => each.call === call)
    if (own.length <= this.#maxBufferedProgress) return
    this.#progress = this.#progress.filter((each) => each !== own[0])
    call.droppedProgress += 1
  }

  serveReaders(): void {
    while (this.wanted > 0 && this.takeOne()) this.wanted -= 1
    if (this.#calls.every(({ stage }) => stage === 'yielded')) this.wanted = 0
  }

  takeOne(): boolean {
    return this.#takeProgress() || this.#takeEnding()
  }

  #takeProgress(): boolean {
    const next = this.#progress.shift()
    if (next === undefined) return false
    const { call, text } = next
    const dropped = call.droppedProgress > 0 ? `, ${call.droppedProgress} dropped` : ''
    this.handedOver.push(`${call.label} ${text}${dropped}`)
    call.droppedProgress = 0
    return true
  }

  #takeEnding(): boolean {
    const next = this.#calls.find(({ stage }) => stage !== 'yielded')
    const text = next?.outbox.shift()
    if (next === undefined || text === undefined) return false
    this.handedOver.push(`${next.label} ${text}`)
    if (next.outbox.length === 0) next.stage = 'yielded'
    return true
  }
}
