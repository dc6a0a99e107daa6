import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ResponsesStore } from '../../support/services/responses-store.ts'
import { serviceFlaws } from '../../support/services/service-flaws.ts'
import { ThinkingBinding } from '../../support/thinking-binding.ts'

/** The request of a client. */
interface SeenRequest {
  readonly path: string
  readonly body: Record<string, unknown>
  /** Resolves when the client has disconnected before the answer was complete. */
  readonly closed: Promise<void>
}

export type Answer = (response: ServerResponse, request: SeenRequest) => void | Promise<void>

export interface SseServer {
  readonly url: string
  readonly requests: SeenRequest[]
  /** Throws if the real service would have rejected a request. */
  close(): Promise<void>
}

/**
 * A service on this machine: the nth request gets the nth answer, and the last one stays. It is as strict as the real
 * one: a request that is not valid is refused, and fails the test.
 */
export async function sseServer(...answers: Answer[]): Promise<SseServer> {
  const requests: SeenRequest[] = []
  const flaws: string[] = []
  const binding = new ThinkingBinding()
  const store = new ResponsesStore()
  const server = createServer(async (incoming, response) => {
    const closed = new Promise<void>((resolve) => {
      response.on('close', () => {
        if (!response.writableFinished) resolve()
      })
    })
    // the beta API has the same path, with a parameter
    const path = (incoming.url ?? '').replace(/\?.*/, '')
    const request = { path, body: await bodyOf(incoming), closed }
    const answer = answers[Math.min(requests.push(request), answers.length) - 1]
    response.on('error', () => undefined)
    const { body } = request
    const betas = String(incoming.headers['anthropic-beta'] ?? '').split(',')
    const isBinding = path.endsWith('/messages')
    const found = [
      ...serviceFlaws(path, isBinding ? { ...body, betas } : body),
      ...(isBinding ? binding.flaws(body) : []),
      ...(path.endsWith('/responses') ? store.flaws(body) : []),
    ]
    flaws.push(...found)
    if (found.length > 0) return refuses(400, { error: { message: found.join('; ') } })(response, request)
    onWritten(response, isBinding ? binding.replyTo(body) : store.reply())
    await answer?.(response, request)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: async () => {
      await new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
      if (flaws.length > 0) throw new Error(`The service refused a request: ${flaws.splice(0).join('; ')}`)
    },
  }
}

async function bodyOf(incoming: IncomingMessage): Promise<Record<string, unknown>> {
  let text = ''
  for await (const piece of incoming) text += piece
  return JSON.parse(text)
}

/** Records the sent events. */
function onWritten(response: ServerResponse, heard: (event: unknown) => void): void {
  let text = ''
  const hear = (piece: unknown): void => {
    text += typeof piece === 'string' || Buffer.isBuffer(piece) ? piece.toString() : ''
    const events = text.split('\n\n')
    text = events.pop() ?? ''
    for (const event of events) {
      const data = /^data: (\{.*)$/m.exec(event)?.[1]
      if (data !== undefined) heard(parsed(data))
    }
  }
  for (const name of ['write', 'end'] as const) {
    const own = response[name].bind(response) as (...args: unknown[]) => never
    response[name] = (...args: unknown[]) => {
      hear(args[0])
      return own(...args)
    }
  }
}

const parsed = (data: string): unknown => {
  try {
    return JSON.parse(data)
  } catch {
    return undefined
  }
}

const head = { 'content-type': 'text/event-stream' }

/** An event as sent over the wire, with its name if the service sends names. */
export const frame = (data: unknown, hasName = true): string => {
  const name = (data as { type?: unknown } | null)?.type
  return `${hasName && typeof name === 'string' ? `event: ${name}\n` : ''}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
}

export const frames = (events: readonly unknown[], hasName = true): string =>
  events.map((event) => frame(event, hasName)).join('')

/** Everything at once, then the end. */
export const sends =
  (text: string): Answer =>
  (response) => {
    response.writeHead(200, head).end(text)
  }

/** In pieces of this many bytes, each in its own packet. */
export const sendsInPieces =
  (text: string, size: number): Answer =>
  async (response) => {
    response.writeHead(200, head)
    response.socket?.setNoDelay(true)
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length; at += size) {
      await new Promise<void>((resolve) => response.write(bytes.subarray(at, at + size), () => resolve()))
      await new Promise((resolve) => setImmediate(resolve))
    }
    response.end()
  }

/** This much, then silence. */
export const stallsAfter =
  (text: string): Answer =>
  (response) => {
    response.writeHead(200, head).write(text)
  }

/** This much, then the connection breaks. */
export const breaksAfter =
  (text: string): Answer =>
  (response) => {
    response.writeHead(200, head).write(text, () => setImmediate(() => response.socket?.resetAndDestroy()))
  }

export const refuses =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  }
