import type { IncomingMessage, ServerResponse } from 'node:http'

/** Converts a Node request to a web Request. Undefined if the body is too large. */
export async function toWebRequest(
  request: IncomingMessage,
  response: ServerResponse,
  maxBytes: number,
): Promise<Request | undefined> {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headers)) {
    for (const each of Array.isArray(value) ? value : [value ?? '']) headers.append(name, each)
  }
  const hasBody = request.method !== 'GET' && request.method !== 'HEAD'
  const body = hasBody ? await readBody(request, maxBytes) : null
  if (body === undefined) return undefined
  const url = new URL(request.url ?? '/', 'http://localhost')
  return new Request(url, { method: request.method ?? 'GET', headers, body, signal: gone.signal })
}

async function readBody(request: IncomingMessage, maxBytes: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of request as AsyncIterable<Uint8Array>) {
    size += part.length
    if (size > maxBytes) return undefined
    parts.push(part)
  }
  return new Uint8Array(Buffer.concat(parts))
}

/** Writes a web Response to Node with backpressure; stops if the client disconnects. */
export async function sendWebResponse(answer: Response, response: ServerResponse): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers))
  response.flushHeaders()
  const reader = answer.body?.getReader()
  if (reader === undefined) return void response.end()
  const leave = (): void => void reader.cancel().catch(() => undefined)
  response.once('close', leave)
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done || response.destroyed) break
      if (!response.write(value)) await drained(response)
    }
  } catch {
    response.destroy()
  } finally {
    response.off('close', leave)
    response.end()
  }
}

const drained = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done)
      resolve()
    }
    response.once('drain', done).once('close', done)
  })
