import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { Access } from './access.ts'
import type { ReceiverEvents } from './receiver.ts'
import { ReceiverSocket } from './receiver-socket.ts'
import { acceptHandshake, handshakeKey } from './web-socket.ts'

export interface ReceiverServerOptions {
  /**
   * 0 picks a free port.
   * @default 0
   */
  port?: number | undefined
  /** Origins of pages that may connect, such as `https://stately.ai`. Other clients need only the address. */
  origins?: readonly string[] | undefined
  /** @default 20 */
  maxClients?: number | undefined
  /** Unsent bytes at which a client is disconnected; above an eighth, it gets fewer messages. @default 32_000_000 */
  maxBufferedBytes?: number | undefined
  /**
   * Whether the server alone keeps the process alive.
   * @default false
   */
  keepsProcess?: boolean | undefined
  /** The page served at the address, and its content security policy. */
  page?: ((address: string) => { readonly html: string; readonly policy: string }) | undefined
}

export interface ReceiverServer {
  /** `127.0.0.1:<port>/<secret>`. Anyone with the address can watch. */
  readonly address: string
  close(): Promise<void>
}

/** A loopback server for receivers of third-party inspectors. They cannot send a token, so the address contains it. */
export async function serveReceivers(
  events: ReceiverEvents,
  { port = 0, origins, maxClients = 20, maxBufferedBytes = 32_000_000, keepsProcess, page }: ReceiverServerOptions = {},
): Promise<ReceiverServer> {
  const receivers = new Set<ReceiverSocket>()
  const sockets = new Set<Socket>()
  const server = createServer((request, response) => {
    response.on('error', () => response.destroy())
    const [status, text] = !access.isHost(request)
      ? [421, 'Unknown host name.']
      : !access.hasPath(request)
        ? [401, 'Wrong or missing secret in the address.']
        : [404, 'Not found.']
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
    // browsers always send the Origin header
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
