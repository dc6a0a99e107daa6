import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { onTestFinished } from 'vitest'

interface Rpc {
  id?: number
  method?: string
  params?: { arguments?: { message?: unknown }; progressToken?: number; requestId?: number }
}

interface BridgeSession {
  readonly child: ChildProcessByStdio<Writable, Readable, null>
  /** Streams that wait for an answer, by request id. */
  readonly streams: Map<number, ServerResponse>
  listener: ServerResponse | undefined
}

export interface Bridge {
  readonly url: string
  /** The ids of cancelled requests. */
  readonly cancelled: number[]
  /** The number of open request streams. */
  openStreams(): number
  /** Forgets every session, like a restarted server. */
  restart(): void
}

/** Registers a cleanup: for one test, or for several. */
export type After = (cleanUp: () => void | Promise<void>) => void

/** Faults for HTTP answers, requested by a call with { message: 'fault:…' }. */
const faults: Record<string, (response: ServerResponse, session: BridgeSession) => void> = {
  hang: () => undefined,
  die: (response) => response.destroy(),
  half: (response) => response.end('event: message\ndata: {"jsonrpc":"2.0","id":'),
  garbage: (response) => response.write('data: {{{ not json\n\n: a comment\n\ndata: [1]\n\n'),
  huge: (response) => {
    const piece = `data: ${'x'.repeat(1_000_000)}\n`
    const more = (): void => {
      if (!response.destroyed) response.write(piece, more)
    }
    more()
  },
  flood: (response) => {
    const piece =
      'data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}\n\n'.repeat(1_000)
    const more = (): void => {
      if (!response.destroyed) response.write(piece, more)
    }
    more()
  },
}
const isLast = new Set(['hang', 'die', 'half', 'huge', 'flood'])
const statuses: Record<string, number> = { forgotten: 404, broken: 500 }

/** Serves a stdio server over streamable HTTP, with sessions, and with faults on request. */
export async function httpBridge(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  after: After = onTestFinished,
): Promise<Bridge> {
  const sessions = new Map<string, BridgeSession>()
  const cancelled: number[] = []

  const start = (): BridgeSession => {
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'], env: { ...process.env, ...env } })
    const session: BridgeSession = { child, streams: new Map(), listener: undefined }
    createInterface({ input: child.stdout }).on('line', (line) => {
      const message = JSON.parse(line) as Rpc
      const id = message.method === undefined ? message.id : message.params?.progressToken
      const stream = id === undefined ? session.listener : session.streams.get(id)
      stream?.write(`event: message\ndata: ${line}\n\n`)
      if (message.method !== undefined || message.id === undefined) return
      stream?.end()
      session.streams.delete(message.id)
    })
    return session
  }
  const drop = (id: string): void => {
    const session = sessions.get(id)
    sessions.delete(id)
    session?.child.kill('SIGKILL')
    session?.listener?.destroy()
    for (const stream of session?.streams.values() ?? []) stream.destroy()
  }

  async function post(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    let body = ''
    for await (const part of request) body += part
    const message = JSON.parse(body) as Rpc
    if (message.method === 'initialize') {
      const id = randomUUID()
      sessions.set(id, start())
      response.setHeader('mcp-session-id', id)
      request.headers['mcp-session-id'] = id
    }
    const session = sessions.get(String(request.headers['mcp-session-id']))
    const asked = /^fault:(\w+)$/.exec(String(message.params?.arguments?.message ?? ''))?.[1] ?? ''
    if (session === undefined) return response.writeHead(message.method === 'server/discover' ? 400 : 404).end()
    if (statuses[asked] !== undefined) {
      if (asked === 'forgotten') drop(String(request.headers['mcp-session-id']))
      return response.writeHead(statuses[asked] as number).end('no luck')
    }
    if (message.method === 'notifications/cancelled') cancelled.push(message.params?.requestId as number)
    if (message.id === undefined || message.method === undefined) {
      session.child.stdin.write(`${body}\n`)
      return response.writeHead(202).end()
    }
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    session.streams.set(message.id, response)
    response.once('close', () => session.streams.delete(message.id as number))
    faults[asked]?.(response, session)
    if (!isLast.has(asked)) session.child.stdin.write(`${body}\n`)
    return undefined
  }

  const server = createServer((request, response) => {
    const id = String(request.headers['mcp-session-id'])
    response.on('error', () => undefined)
    if (request.method === 'POST') return void post(request, response)
    const session = sessions.get(id)
    if (session === undefined) return void response.writeHead(404).end()
    if (request.method === 'DELETE') {
      drop(id)
      return void response.writeHead(200).end()
    }
    session.listener = response
    response.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const restart = (): void => {
    for (const id of [...sessions.keys()]) drop(id)
  }
  after(async () => {
    restart()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    cancelled,
    openStreams: () => [...sessions.values()].reduce((sum, { streams }) => sum + streams.size, 0),
    restart,
  }
}
