import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { expect, it, onTestFinished } from 'vitest'
import {
  allowAllTools,
  createAssistantMessage,
  StreamingToolExecutor,
  type ToolResultBlock,
} from '../../../src/index.ts'
import { webFetchTool } from '../src/index.ts'
import { runTool } from './bench.ts'

/** A loopback server that sends a part of its answer and then nothing more. */
async function half(send: (response: ServerResponse) => void): Promise<{ url: string; sent: Promise<void> }> {
  let tell = (): void => undefined
  const sent = new Promise<void>((resolve) => {
    tell = resolve
  })
  const server = createServer((_request, response) => {
    const write = response.write.bind(response) as (chunk: unknown, then: () => void) => boolean
    response.write = ((chunk: unknown) => write(chunk, tell)) as never
    send(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sent }
}

/** Fetches, and aborts once the half has left the server and the client has had its turns to read it. */
async function abortedFetch({ url, sent }: { url: string; sent: Promise<void> }): Promise<string> {
  const executor = new StreamingToolExecutor(
    [webFetchTool({ allowPrivateAddresses: true })],
    allowAllTools,
    {},
    { abortGraceMs: 60_000 },
  )
  executor.addTool({ type: 'tool_use', id: 't', name: 'WebFetch', input: { url } }, createAssistantMessage([]))
  await sent
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
  executor.abort('escape')
  let text = ''
  for await (const { message } of executor.getRemainingResults()) {
    if (message.type === 'user') text = String((message.message.content[0] as ToolResultBlock).content)
  }
  return text
}

it('a page that is aborted in mid-body keeps what had arrived', async () => {
  const text = await abortedFetch(
    await half((response) => {
      response.writeHead(200, { 'content-type': 'text/plain' })
      response.write(Buffer.from('the first half é').subarray(0, -1))
    }),
  )
  expect(text).toContain('It was stopped before it finished')
  // half of a character is left out
  expect(text).toContain(
    '[Partial result: the fetch was stopped. Only the first 16 bytes of the page arrived.]\nthe first half ',
  )
  expect(text).not.toContain('\uFFFD')
})

it('a page of HTML is still shown as Markdown', async () => {
  const html = await abortedFetch(
    await half((response) => {
      response.writeHead(200, { 'content-type': 'text/html' })
      response.write('<h1>Title</h1><p>Some <b>bold</b> words')
    }),
  )
  expect(html).toMatch(/Partial result:.*\]\n# Title\n\nSome \*\*bold\*\* words/)
})

it('a page that is too slow keeps what had arrived, as an error', async () => {
  const { url } = await half((response) => {
    response.writeHead(200, { 'content-type': 'text/plain' })
    response.write('begun')
  })
  const options = { allowPrivateAddresses: true, timeoutMs: 300 }
  const { text, isError } = await runTool([webFetchTool(options)], 'WebFetch', { url })
  expect(text).toBe(
    '[Partial result: the fetch timed out after 300 ms. Only the first 5 bytes of the page arrived.]\nbegun',
  )
  expect(isError).toBe(true)
})

it('a compressed page is decompressed as far as it came', async () => {
  const words = Array.from({ length: 2_000 }, (_, index) => `word ${index}`).join('\n')
  const { url } = await half((response) => {
    response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' })
    response.write(gzipSync(words).subarray(0, 2_000))
  })
  const { text } = await runTool([webFetchTool({ allowPrivateAddresses: true, timeoutMs: 300 })], 'WebFetch', { url })
  expect(text).toContain('[Partial result:')
  expect(text).toContain('word 0\nword 1\n')
  expect(text).not.toContain('word 1999')
})

it('a page that never begins has nothing to keep', async () => {
  const { url } = await half(() => undefined)
  const options = { allowPrivateAddresses: true, timeoutMs: 50 }
  const { text } = await runTool([webFetchTool(options)], 'WebFetch', { url })
  expect(text).toContain('timed out after 50 ms')
  expect(text).not.toContain('Partial')
})
