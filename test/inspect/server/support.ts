import { request } from 'node:http'
import { WebSocket } from 'ws'
import type { Frame } from '../../../src/inspect/index.ts'

export const tokenOf = (url: string): string => new URL(url).hash.replace('#token=', '')

export interface Connection {
  readonly socket: WebSocket
  readonly frames: Frame[]
  readonly messages: Record<string, unknown>[]
  /** Resolves as soon as the condition holds for the frames. */
  until(isThere: (frames: readonly Frame[]) => boolean): Promise<void>
  untilMessage(type: string): Promise<Record<string, unknown>>
  readonly closed: Promise<number>
}

export const socketAt = (
  url: string,
  {
    token = tokenOf(url),
    origin = new URL(url).origin,
    host,
    search = '',
  }: { token?: string; origin?: string; host?: string; search?: string } = {},
): WebSocket =>
  new WebSocket(`${new URL(url).origin.replace('http', 'ws')}/${search}`, ['signalbox.inspect.v1', `token.${token}`], {
    ...(origin !== '' && { origin }),
    ...(host !== undefined && { headers: { host } }),
  })

/** A raw client that acts like a browser. */
export async function connect(url: string, { acknowledges = true, search = '' } = {}): Promise<Connection> {
  const socket = socketAt(url, { search })
  const frames: Frame[] = []
  const messages: Record<string, unknown>[] = []
  const waiting = new Set<() => void>()
  const wait = (isThere: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const check = (): void => {
        if (!isThere()) return
        waiting.delete(check)
        resolve()
      }
      waiting.add(check)
      check()
    })
  const closed = new Promise<number>((resolve) => socket.on('close', resolve))
  socket.on('message', (data) => {
    const message = JSON.parse(String(data))
    messages.push(message)
    if (message.type === 'frames') {
      frames.push(...message.frames)
      if (acknowledges) socket.send(JSON.stringify({ type: 'ack', batch: message.batch }))
    }
    for (const check of [...waiting]) check()
  })
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('error', reject)
  })
  return {
    socket,
    frames,
    messages,
    closed,
    until: (isThere) => wait(() => isThere(frames)),
    async untilMessage(type) {
      await wait(() => messages.some((message) => message.type === type))
      return messages.find((message) => message.type === type) as Record<string, unknown>
    },
  }
}

/** The HTTP status of a refused connection. */
export const refusal = (socket: WebSocket): Promise<number | string> =>
  new Promise((resolve) => {
    socket.once('unexpected-response', (_, response) => resolve(response.statusCode ?? 0))
    socket.once('error', (error) => resolve(error.message))
    socket.once('open', () => resolve('open'))
  })

export const get = (
  url: string,
  {
    path = '/',
    method = 'GET',
    headers = {},
  }: { path?: string; method?: string; headers?: Record<string, string> } = {},
): Promise<{ status: number; headers: Record<string, unknown>; text: string }> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    request({ hostname, port, path, method, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk) => (text += chunk))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }))
    })
      .on('error', reject)
      .end()
  })
