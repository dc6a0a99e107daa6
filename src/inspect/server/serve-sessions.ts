import type { ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { describeError } from '../../base/describe-error.ts'
import { isSignalboxError } from '../../base/signalbox-error.ts'
import { type Frame, frameLine, recordingOfSession } from '../index.ts'
import { SessionDigests } from '../journal/session-digest.ts'
import type { InspectorOptions } from './inspector-options.ts'

/** A recording needs the whole log in memory, so few are read at once and the others wait in line. */
const mostAtOnce = 4
const mostWaiting = 32

type Refuse = (response: ServerResponse, status: number, text: string) => void

/** Stored sessions: `/sessions` is the list, `/session?id=…` is one of them as a recording. */
export class StoredSessionPages {
  readonly #options: InspectorOptions
  readonly #digests: SessionDigests | undefined
  readonly #headers: Readonly<Record<string, string>>
  readonly #refuse: Refuse
  #open = 0
  readonly #waiting: (() => void)[] = []

  constructor(options: InspectorOptions, headers: Readonly<Record<string, string>>, refuse: Refuse) {
    this.#options = options
    this.#headers = headers
    this.#refuse = refuse
    this.#digests = options.journals && new SessionDigests(options.journals)
  }

  async sendList(response: ServerResponse): Promise<void> {
    if (this.#digests === undefined) return this.#refuse(response, 404, withoutJournals)
    try {
      const text = JSON.stringify(await this.#digests.list())
      response.writeHead(200, { ...this.#headers, 'Content-Type': 'application/json' }).end(text)
    } catch (error) {
      this.#refuse(response, 500, `The sessions cannot be listed: ${describeError(error)}`)
    }
  }

  /** An id is never a path: the store looks it up by a hash or a key. */
  async sendOne(response: ServerResponse, id: string | null): Promise<void> {
    const { journals, redact, limits, prices } = this.#options
    if (journals === undefined) return this.#refuse(response, 404, withoutJournals)
    if (id === null || id === '' || id.length > 1_000)
      return this.#refuse(response, 400, 'Expected ?id=<session>, with up to 1,000 characters.')
    if (this.#waiting.length >= mostWaiting)
      return this.#refuse(response, 503, 'Too many sessions are being opened. Try again.')
    await this.#takePlace()
    try {
      if (response.destroyed) return
      await this.#send(response, recordingOfSession(journals, id, { redact, limits, prices }))
    } catch (error) {
      if (response.headersSent) return void response.destroy()
      const isMissing = isSignalboxError(error) && error.code === 'session_not_found'
      this.#refuse(response, isMissing ? 404 : 422, isSignalboxError(error) ? error.message : describeError(error))
    } finally {
      this.#leavePlace()
    }
  }

  async #takePlace(): Promise<void> {
    if (this.#open < mostAtOnce) this.#open++
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  /** The place goes to the next in line, if there is one. */
  #leavePlace(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#open--
    else next()
  }

  async #send(response: ServerResponse, frames: AsyncGenerator<Frame>): Promise<void> {
    // the first frame decides between a recording and an error
    const first = await frames.next()
    response.writeHead(200, { ...this.#headers, 'Content-Type': 'application/x-ndjson' })
    if (first.done === true) return void response.end()
    // a reader that leaves ends the generator too
    await pipeline(linesOf(first.value, frames), response)
  }
}

async function* linesOf(first: Frame, rest: AsyncGenerator<Frame>): AsyncGenerator<string> {
  yield frameLine(first)
  for await (const frame of rest) yield frameLine(frame)
}

const withoutJournals = 'This inspector was started without journals.'
