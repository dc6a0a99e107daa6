import { createReadStream } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { ShownAs } from '../bridge/shown-runs.ts'
import type { Showable } from '../index.ts'
import { assertShowable } from '../recorder/showable.ts'
import { Access, protocolName } from './access.ts'
import { appFiles } from './app-files.ts'
import { Broadcast, type Resume } from './broadcast.ts'
import { ConnectionLimit } from './connection-limit.ts'
import { assertOptions, type InspectorOptions } from './inspector-options.ts'
import { StoredSessionPages } from './serve-sessions.ts'
import { acceptHandshake, handshakeKey } from './web-socket.ts'

export interface InspectorServer {
  /** Open this in a browser. The address contains the secret: anyone with it can watch. */
  readonly url: string
  /**
   * Shows one more executor, a query with all its executors, or a connection. For a sub-agent's query, `parentToolUseID`
   * is the call it works for. Returns a function that removes it.
   */
  add(shown: Showable, options?: ShownAs): () => void
  close(): Promise<void>
}

const maxMessageBytes = 65_536

/** Serves the inspector on loopback, for the given executors and queries and those added later. */
export async function serveInspector(
  shown: Showable | Iterable<Showable> = [],
  options: InspectorOptions = {},
): Promise<InspectorServer> {
  assertOptions(options)
  const first = isIterable(shown) ? [...shown] : [shown]
  for (const each of first) assertShowable(each)
  const files = appFiles(options.appFolder)
  const broadcast = new Broadcast(options)
  const stored = new StoredSessionPages(options, headers, refuse)
  const server = createServer((request, response) => answer(request, response))
  const sockets = new ConnectionLimit(server, (options.maxClients ?? 20) + 100)
  if (options.keepsProcess !== true) server.on('connection', (socket) => socket.unref())
  server.on('upgrade', (request, socket, head) => upgrade(request, socket, head))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, '127.0.0.1', resolve)
  })
  if (options.keepsProcess !== true) server.unref()
  const { port } = server.address() as AddressInfo
  const access = new Access(port, options.origins, options.token)
  for (const each of first) broadcast.add(each)

  function answer(request: IncomingMessage, response: ServerResponse): void {
    response.on('error', () => response.destroy())
    const path = (request.url ?? '/').split('?', 1)[0] as string
    if (!access.isHost(request))
      return refuse(response, 421, 'Unknown host name. Open the address that the server printed.')
    if (sharedPaths.has(path) && access.isOrigin(request)) {
      // a page that may connect may load recordings too, and ask why it cannot connect
      response.setHeader('Access-Control-Allow-Origin', request.headers.origin as string)
      response.setHeader('Access-Control-Allow-Headers', 'authorization')
      response.setHeader('Vary', 'Origin')
      if (request.method === 'OPTIONS') return void response.writeHead(204).end()
    }
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return refuse(response, 405, 'Method not allowed. Use GET or HEAD.')
    if (path === '/state') return sendState(request, response)
    if (path === '/sessions' || path === '/session') return sendStored(request, response, path)
    if (path === '/recording') return sendFile(request, response, options.recording, 'application/x-ndjson')
    if (path === '/coverage') return sendFile(request, response, options.coverage, 'application/json')
    const file = files.get(path)
    if (file === undefined) {
      const isAppMissing = files.size === 0 && path === '/'
      return refuse(response, 404, isAppMissing ? 'The inspector app is not built. Run: npm run build' : 'Not found.')
    }
    response.writeHead(200, { ...headers, 'Content-Type': file.type })
    response.end(request.method === 'HEAD' ? undefined : file.read())
  }

  /** A page cannot see why its WebSocket was refused, so it asks here. */
  function sendState(request: IncomingMessage, response: ServerResponse): void {
    if (!access.hasBearer(request)) return refuse(response, 401, 'Missing or wrong token.')
    if (broadcast.isFull) return refuse(response, 503, 'Too many browsers are connected.')
    response.writeHead(204, headers).end()
  }

  function sendStored(request: IncomingMessage, response: ServerResponse, path: string): void {
    if (!access.hasBearer(request)) return refuse(response, 401, withoutToken)
    const { searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1')
    void (path === '/sessions' ? stored.sendList(response) : stored.sendOne(response, searchParams.get('id')))
  }

  function sendFile(request: IncomingMessage, response: ServerResponse, file: string | undefined, type: string): void {
    if (!access.hasBearer(request)) return refuse(response, 401, withoutToken)
    if (file === undefined) return refuse(response, 404, 'This inspector was started without such a file.')
    const stream = createReadStream(file)
    stream.once('error', () =>
      response.headersSent ? response.destroy() : refuse(response, 404, 'The file cannot be read.'),
    )
    stream.once('open', () => {
      response.writeHead(200, { ...headers, 'Content-Type': type })
      response.once('close', () => stream.destroy())
      stream.pipe(response)
    })
  }

  function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy())
    const key = handshakeKey(request)
    if (!access.isHost(request)) return hangUp(socket, 421, 'Misdirected Request')
    if (!access.isOrigin(request)) return hangUp(socket, 403, 'Forbidden')
    if (key === undefined) return hangUp(socket, 400, 'Bad Request')
    if (!access.hasToken(request)) return hangUp(socket, 401, 'Unauthorized')
    if (broadcast.isFull) return hangUp(socket, 503, 'Service Unavailable')
    acceptHandshake(socket, key, protocolName)
    broadcast.join(socket, head, maxMessageBytes, resumeOf(request))
  }

  return {
    url: `http://127.0.0.1:${port}/#token=${access.token}`,
    add: (more, as) => broadcast.add(more, as),
    close: () =>
      new Promise((resolve) => {
        broadcast.close()
        server.close(() => resolve())
        sockets.closeAll()
      }),
  }
}

const sharedPaths = new Set(['/recording', '/state', '/sessions', '/session'])
const withoutToken = 'Missing or wrong token. Send it as "Authorization: Bearer <token>".'

/** The stream that a browser has followed, and the last frame it received. */
function resumeOf({ url = '/' }: IncomingMessage): Resume | undefined {
  const { searchParams } = new URL(url, 'http://127.0.0.1')
  const [stream, after] = [searchParams.get('stream'), Number(searchParams.get('after') ?? Number.NaN)]
  return stream !== null && Number.isSafeInteger(after) ? { stream, after } : undefined
}

/** Load only own files, forbid embedding, cache nothing. */
const headers = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "img-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
}

function refuse(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { ...headers, 'Content-Type': 'text/plain; charset=utf-8', Connection: 'close' })
  response.end(`${text}\n`)
}

function hangUp(socket: Duplex, status: number, text: string): void {
  socket.end(`HTTP/1.1 ${status} ${text}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
}

const isIterable = (shown: Showable | Iterable<Showable>): shown is Iterable<Showable> =>
  typeof shown === 'object' && shown !== null && Symbol.iterator in shown
