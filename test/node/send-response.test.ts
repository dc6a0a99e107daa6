import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sendResponse } from 'signalbox/node'
import { afterEach, describe, expect, it } from 'vitest'

/** A server that sends this response, and what became of the sending. */
async function serve(answer: () => Response) {
  const sent: Promise<unknown>[] = []
  const server = createServer((_request, response) => {
    sent.push(
      sendResponse(answer(), response).then(
        () => 'sent',
        (error: unknown) => error,
      ),
    )
  })
  servers.push(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, sent }
}

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections()
})

/** A stream that never ends by itself, and says when it is cancelled. */
function endless() {
  let cancel = (): void => undefined
  const isCancelled = new Promise<void>((resolve) => {
    cancel = resolve
  })
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode('begun')),
    cancel,
  })
  return { body, isCancelled }
}

describe('sendResponse', () => {
  it('S8 sends status, headers and body, also where there is none', async () => {
    const told = new Response('hello', { status: 201, headers: { 'x-own': 'yes', 'content-type': 'text/plain' } })
    const answers = [told, new Response(null, { status: 204 })]
    const { url, sent } = await serve(() => answers.shift() as Response)
    const first = await fetch(url)
    expect([first.status, first.headers.get('x-own'), await first.text()]).toEqual([201, 'yes', 'hello'])
    expect((await fetch(url)).status).toBe(204)
    expect(await Promise.all(sent)).toEqual(['sent', 'sent'])
  })

  it('S8 a browser that leaves ends the body, and is no error', async () => {
    const { body, isCancelled } = endless()
    const { url, sent } = await serve(() => new Response(body))
    const leave = new AbortController()
    const page = await fetch(url, { signal: leave.signal })
    await page.body?.getReader().read()
    leave.abort()
    await isCancelled
    expect(await sent[0]).toBe('sent')
  })

  it('S8 a body that fails rejects, and ends the connection', async () => {
    const failure = new Error('the session is gone')
    const body = new ReadableStream({ pull: (controller) => controller.error(failure) })
    const { url, sent } = await serve(() => new Response(body))
    await expect(fetch(url).then((page) => page.text())).rejects.toThrow()
    expect(await sent[0]).toBe(failure)
  })
})
