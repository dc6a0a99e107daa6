import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export interface SseServer {
  readonly url: string
  /** Requests so far, as JSON. */
  readonly requests: unknown[]
  /** Resolves when every reply so far has ended: sent completely, or its connection is closed. */
  allOver(): Promise<void>
  close(): Promise<void>
}

/** A server on loopback whose replies are written by the test. */
export async function sseServer(
  reply: (response: ServerResponse, at: number, request: IncomingMessage) => void | Promise<void>,
): Promise<SseServer> {
  const requests: unknown[] = []
  const replies: Promise<void>[] = []
  const sockets = new Set<Socket>()
  const server = createServer(async (request, response) => {
    replies.push(new Promise((resolve) => response.on('close', resolve)))
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const at = requests.push(JSON.parse(String(Buffer.concat(chunks)))) - 1
    await reply(response, at, request)
  })
  // a request sent just as the server gives up an idle connection would fail without arriving, on a busy machine
  server.keepAliveTimeout = 0
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    allOver: async () => void (await Promise.all(replies)),
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resolve())
      }),
  }
}

/** Events of the Messages API as sent over the wire. */
export const sse = (events: readonly { type: string }[]): string =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')

export const startSse = (response: ServerResponse): void =>
  void response.writeHead(200, { 'content-type': 'text/event-stream' })
