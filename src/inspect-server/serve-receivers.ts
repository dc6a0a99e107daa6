import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { Access } from './access.ts'
import type { ReceiverEvents } from './receiver.ts'
import { ReceiverSocket } from './receiver-socket.ts'
import { acceptHandshake, handshakeKey } from './web-socket.ts'

export interface ReceiverServerOptions {
  /**
   * 0 takes any that is free.
   * @default 0
   */
  port?: number | undefined
  /** Pages that may connect, such as `https://stately.ai`. Whatever is no page needs the address only. */
  origins?: readonly string[] | undefined
  /** @default 20 */
  maxClients?: number | undefined
  /** How much may be on its way to a client before it is dropped; from an eighth on it is told less. @default 32_000_000 */
  maxBufferedBytes?: number | undefined
  /**
   * Whether the process stays up for this alone.
   * @default false
   */
  keepsProcess?: boolean | undefined
  /** What a browser gets at the address, and from where it may load. */
  page?: ((address: string) => { readonly html: string; readonly policy: string }) | undefined
}

export interface ReceiverServer {
  /** `127.0.0.1:<port>/<secret>`: whoever has it may look. */
  readonly address: string
  close(): Promise<void>
}

/** A place on loopback where receivers of other inspectors connect. They can be given no token, so the address holds it. */
export async function serveReceivers(
  events: ReceiverEvents,
  { port = 0, origins, maxClients = 20, maxBufferedBytes = 32_000_000, keepsProcess, page }: ReceiverServerOptions = {},
): Promise<ReceiverServer> {
  const receivers = new Set<ReceiverSocket>()
  const sockets = new Set<Socket>()
  const server = createServer((request, response) => {
    response.on('error', () => response.destroy())
    const [status, text] = !access.isHost(request)
      ? [421, 'Not here.']
      : !access.hasPath(request)
        ? [401, 'No.']
        : [404, 'Nothing.']
    const shown = status === 404 && request.method === 'GET' ? page?.(address) : undefined
    const type = shown === undefined ? 'text/plain' : 'text/html'
    const policy = shown?.policy ?? "default-src 'none'"
    const headers = { 'Content-Type': `${type}; charset=utf-8`, 'Content-Security-Policy': policy, ...always }
    response.writeHead(shown === undefined ? Number(status) : 200, headers)
    response.end(shown?.html ?? `${text}\n`)
  })
  server.maxConnections = maxClients + 100
  server.on('connection', (socket) => {
    sockets.add(socket)
    if (keepsProcess !== true) socket.unref()
    socket.once('close', () => sockets.delete(socket))
  })
  server.on('upgrade', upgrade)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  if (keepsProcess !== true) server.unref()
  const access = new Access((server.address() as AddressInfo).port, origins)
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}/${access.token}`

  function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy())
    const key = handshakeKey(request)
    if (!access.isHost(request)) return hangUp(socket, '421 Misdirected Request')
    // a page always says where it is from
    if (request.headers.origin !== undefined && !access.isOrigin(request)) return hangUp(socket, '403 Forbidden')
    if (key === undefined) return hangUp(socket, '400 Bad Request')
    if (!access.hasPath(request)) return hangUp(socket, '401 Unauthorized')
    if (receivers.size >= maxClients) return hangUp(socket, '503 Service Unavailable')
    acceptHandshake(socket, key)
    const receiver: ReceiverSocket = new ReceiverSocket(socket, head, maxBufferedBytes, {
      ...events,
      onLeave() {
        if (receivers.delete(receiver)) events.onLeave(receiver)
      },
    })
    receivers.add(receiver)
    events.onJoin(receiver)
  }

  return {
    address,
    close: () =>
      new Promise((resolve) => {
        for (const receiver of receivers) receiver.close()
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

const always = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
  Connection: 'close',
}

function hangUp(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
}
