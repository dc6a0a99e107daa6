import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import { SignalboxError } from 'signalbox'
import { httpAccess } from './http-access.ts'
import type { ServerSdk } from './mcp-server.ts'
import { sendWebResponse, toWebRequest } from './web-bridge.ts'

export interface HttpOptions {
  /**
   * 0 picks a free port.
   * @default 0
   */
  port?: number | undefined
  /** @default '127.0.0.1' */
  host?: string | undefined
  /** The token that clients send as `Authorization: Bearer …`. Required if other machines can connect. */
  token?: string | undefined
  /** Further accepted host names, such as the name of a proxy. */
  allowedHosts?: readonly string[] | undefined
}

export interface ServedHttp {
  readonly url: string
  close(): Promise<void>
}

interface HttpSession {
  readonly server: Server
  readonly transport: WebStandardStreamableHTTPServerTransport
}

const maxBodyBytes = 4_000_000
const maxSessions = 100
const loopback = ['127.0.0.1', 'localhost', '[::1]']

/** One server for all clients over streamable HTTP: with sessions for 2025 clients, without for later ones. */
export async function serveHttp(sdk: ServerSdk, makeServer: () => Server, options: HttpOptions): Promise<ServedHttp> {
  const { port = 0, host = '127.0.0.1', token, allowedHosts = [] } = options
  if (token === '')
    throw new SignalboxError('invalid_option', 'token must not be empty. Set a token that cannot be guessed.')
  const isLoopback = ['127.0.0.1', 'localhost', '::1'].includes(host)
  if (!isLoopback && token === undefined) {
    throw new SignalboxError('invalid_option', `host ${host} is reachable from other machines. Set a token.`)
  }
  /** In the order of their last use. */
  const sessions = new Map<string, HttpSession>()
  const modern = sdk.createMcpHandler(makeServer, { legacy: 'reject', maxRequestBodySize: maxBodyBytes })
  const server = createServer((request, response) => {
    response.on('error', () => response.destroy())
    handle(request, response).catch(() => refuse(response, 500, 'Internal server error.'))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const { port: taken } = server.address() as AddressInfo
  const shownHost = host.includes(':') ? `[${host}]` : host
  const names = [
    ...(isLoopback ? loopback : []),
    shownHost.toLowerCase(),
    ...allowedHosts.map((name) => name.toLowerCase()),
  ]
  const access = httpAccess(names, taken, token)

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refusal = access.refusal(request)
    if (refusal !== undefined) return refuse(response, refusal.status, refusal.text)
    const asked = await toWebRequest(request, response, maxBodyBytes)
    if (asked === undefined) return refuse(response, 413, 'The request is too large.')
    const isLegacy = await sdk.isLegacyRequest(asked, undefined, { maxRequestBodySize: maxBodyBytes })
    await sendWebResponse(isLegacy ? await inSession(asked) : await modern.fetch(asked), response)
  }

  async function inSession(asked: Request): Promise<Response> {
    const id = asked.headers.get('mcp-session-id')
    const known = id === null ? await newSession() : sessions.get(id)
    if (known === undefined) return new Response('Unknown session.\n', { status: 404 })
    if (id !== null) {
      sessions.delete(id)
      sessions.set(id, known)
    }
    const answer = await known.transport.handleRequest(asked)
    // a client that did not start with `initialize` has no session, and leaves none behind
    if (known.transport.sessionId === undefined) await known.server.close()
    return answer
  }

  async function newSession(): Promise<HttpSession> {
    const transport = new sdk.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => remember(id, session),
      onsessionclosed: (id) => void sessions.delete(id),
      maxRequestBodySize: maxBodyBytes,
    })
    const session: HttpSession = { server: makeServer(), transport }
    await session.server.connect(transport)
    return session
  }

  function remember(id: string, session: HttpSession): void {
    const [oldest] = sessions
    if (sessions.size >= maxSessions && oldest !== undefined) {
      sessions.delete(oldest[0])
      void oldest[1].server.close()
    }
    sessions.set(id, session)
  }

  return {
    url: `http://${shownHost}:${taken}/mcp`,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      await Promise.all([modern.close(), ...[...sessions.values()].map((session) => session.server.close())])
      server.closeAllConnections()
      await closed
    },
  }
}

function refuse(response: ServerResponse, status: number, text: string): void {
  if (response.headersSent) return void response.destroy()
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8', Connection: 'close' })
  response.end(`${text}\n`)
}
