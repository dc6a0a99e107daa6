import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What a client asked for. */
export interface SeenRequest {
  readonly path: string
  readonly body: Record<string, unknown>
  /** Settles when the client has gone away before the answer was complete. */
  readonly closed: Promise<void>
}

export type Answer = (response: ServerResponse, request: SeenRequest) => void | Promise<void>

export interface SseServer {
  readonly url: string
  readonly requests: SeenRequest[]
  close(): Promise<void>
}

/** A service on this machine: the nth request gets the nth answer, and the last one stays. */
export async function sseServer(...answers: Answer[]): Promise<SseServer> {
  const requests: SeenRequest[] = []
  const server = createServer(async (incoming, response) => {
    const closed = new Promise<void>((resolve) => {
      response.on('close', () => {
        if (!response.writableFinished) resolve()
      })
    })
    const request = { path: incoming.url ?? '', body: await bodyOf(incoming), closed }
    const answer = answers[Math.min(requests.push(request), answers.length) - 1]
    response.on('error', () => undefined)
    await answer?.(response, request)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function bodyOf(incoming: IncomingMessage): Promise<Record<string, unknown>> {
  let text = ''
  for await (const piece of incoming) text += piece
  return JSON.parse(text)
}

const head = { 'content-type': 'text/event-stream' }

/** An event as it goes over the wire, with its name where the service sends names. */
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

/** In pieces of this many bytes, each in a packet of its own. */
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

/** This much, and then silence. */
export const stallsAfter =
  (text: string): Answer =>
  (response) => {
    response.writeHead(200, head).write(text)
  }

/** This much, and then the connection breaks. */
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
