import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { defaultTools, webFetchTool } from '../../src/tools/index.ts'
import { isPrivateAddress } from '../../src/tools/web/private-address.ts'
import { runTool, scratch } from './bench.ts'

async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const fetchIt = (url: string, options: Parameters<typeof webFetchTool>[0] = { allowPrivateAddresses: true }) =>
  runTool([webFetchTool(options)], 'WebFetch', { url })

const html = `<html><head><title>T</title><style>p{}</style></head><body><h1>Hello</h1><script>evil()</script>
<p>A <a href="/x">link</a> and <b>bold</b>.</p><ul><li>one</li></ul></body></html>`

describe('WebFetch', () => {
  it('gives back HTML as Markdown, and other text as it is', async () => {
    const url = await serve((request, response) => {
      const isPage = request.url === '/'
      response.setHeader('content-type', isPage ? 'text/html; charset=utf-8' : 'application/json')
      response.end(isPage ? html : '{"a":1}')
    })
    expect((await fetchIt(url)).text).toBe('# Hello\n\nA [link](/x) and **bold**.\n\n-   one')
    expect((await fetchIt(`${url}/data`)).text).toBe('{"a":1}')
  })

  it.each([
    ['gzip', gzipSync],
    ['GZIP', gzipSync],
    ['constructor', (text: string) => Buffer.from(text)],
    ['br', brotliCompressSync],
  ] as const)('unpacks %s, and counts what comes out', async (encoding, pack) => {
    const url = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': encoding })
      response.end(pack('x'.repeat(1_000_000)))
    })
    const { text } = await fetchIt(url, { allowPrivateAddresses: true, maxBytes: 1_000 })
    expect(text).toBe(`${'x'.repeat(1_000)}\n[The page goes on; the rest was left out.]`)
  })

  it('refuses private addresses unless allowed, in any spelling', async () => {
    const url = await serve((_, response) => response.end('inside'))
    const { port } = new URL(url)
    for (const host of [
      '127.0.0.1',
      'localhost',
      '2130706433',
      '0x7f.1',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '0.0.0.0',
      'x.localhost',
    ]) {
      expect((await fetchIt(`http://${host}:${port}/`, {})).text, host).toContain('private address')
    }
    const some = { allowPrivateAddresses: (host: string) => host === '127.0.0.1' }
    expect((await fetchIt(url, some)).text).toBe('inside')
    expect((await fetchIt(`http://localhost:${port}/`, some)).text).toContain('private address')
  })

  it('follows redirects on the same host only, and none to a private address', async () => {
    const url = await serve((request, response) => {
      const to = {
        '/a': '/b',
        '/out': 'http://example.com/x',
        '/in': 'http://10.0.0.1/',
        '/loop': '/loop',
        '/file': 'file:///etc/passwd',
      }[request.url ?? '']
      if (to === undefined) response.end('arrived')
      else response.writeHead(302, { location: to }).end()
    })
    const own = { allowPrivateAddresses: (host: string) => host === '127.0.0.1' }
    expect((await fetchIt(`${url}/a`, own)).text).toBe('arrived')
    expect((await fetchIt(`${url}/out`, own)).text).toContain('redirects to another host: http://example.com/x')
    expect((await fetchIt(`${url}/in`, own)).text).toContain('10.0.0.1 is a private address')
    expect((await fetchIt(`${url}/loop`, own)).text).toContain('redirects more than')
    expect((await fetchIt(`${url}/file`, own)).text).toContain('Only http and https')
  })

  it('refuses what is no page, before anybody is asked', async () => {
    for (const url of ['file:///etc/passwd', 'ftp://x/', 'javascript:1', 'no url', 'http://user:pw@example.com/']) {
      expect((await fetchIt(url)).isError, url).toBe(true)
    }
  })

  it('ends what takes too long, and what is aborted', async () => {
    const url = await serve((request, response) => {
      if (request.url === '/slow') response.writeHead(200, { 'content-type': 'text/plain' }).write('begun')
    })
    const limits = { allowPrivateAddresses: true, timeoutMs: 200 }
    expect((await fetchIt(url, limits)).text).toContain('took longer than 200 ms')
    expect((await fetchIt(`${url}/slow`, limits)).text).toContain('took longer than 200 ms')
  })

  it('tells errors of the server and refuses binary data', async () => {
    const url = await serve((request, response) => {
      if (request.url === '/png') response.writeHead(200, { 'content-type': 'image/png' }).end('x')
      else if (request.url === '/cut')
        response.writeHead(200, { 'content-length': '10' }).end('abc', () => response.destroy())
      else response.writeHead(404, { 'content-type': 'text/plain' }).end('not here')
    })
    expect(await fetchIt(url)).toMatchObject({ isError: true, text: expect.stringContaining('status 404]\nnot here') })
    expect((await fetchIt(`${url}/png`)).text).toContain('cannot be shown as text')
    expect((await fetchIt(`${url}/cut`)).isError).toBe(true)
  })

  it('tries once more when the connection breaks', async () => {
    let count = 0
    const url = await serve((request, response) => {
      if (count++ === 0) request.socket.destroy()
      else response.end('second')
    })
    expect((await fetchIt(url)).text).toBe('second')
  })

  it('survives HTML that is nested without end', async () => {
    const url = await serve((_, response) => {
      response.setHeader('content-type', 'text/html')
      response.end(`${'<div>'.repeat(20_000)}deep`)
    })
    expect((await fetchIt(url)).text).toContain('deep')
  })

  it.each([
    ['domain:example.com', 'https://example.com/a', true],
    ['domain:example.com', 'https://www.example.com/a', true],
    ['example.com', 'https://EXAMPLE.com./a', true],
    ['domain:example.com', 'https://evilexample.com/', false],
    ['domain:example.com', 'https://example.com.evil.net/', false],
    ['domain:example.com', 'https://evil.net/example.com', false],
    ['domain:example.com', 'https://example.com@evil.net/', false],
  ])('rules: %s and %s: %s', (spec, url, expected) => {
    expect(webFetchTool().matchesRule?.(spec, { url }, {} as never, 'allow')).toBe(expected)
  })
})

it.each([
  ['8.8.8.8', false],
  ['2606:4700::1111', false],
  ['10.1.2.3', true],
  ['172.31.0.1', true],
  ['172.32.0.1', false],
  ['169.254.169.254', true],
  ['100.64.0.1', true],
  ['255.255.255.255', true],
  ['::', true],
  ['fe80::1%eth0', true],
  ['fd00::1', true],
  ['::ffff:10.0.0.1', true],
  ['::ffff:a00:1', true],
  ['::ffff:8.8.8.8', false],
  ['64:ff9b::a00:1', true],
  ['2002:a00:1::', true],
  ['no address', true],
])('an address of nobody in public: %s is %s', (address, expected) => expect(isPrivateAddress(address)).toBe(expected))

describe('WebSearch', () => {
  it('asks the host, and says so where it cannot', async () => {
    const root = scratch()
    expect((await runTool(defaultTools({ root }), 'WebSearch', { query: 'signal box' })).text).toContain(
      'No search engine',
    )
    const searchWeb = async (query: string) => [{ title: query, url: 'https://example.com', text: 'a text' }]
    const { text } = await runTool(defaultTools({ root, searchWeb }), 'WebSearch', { query: 'signal box' })
    expect(text).toBe('signal box\nhttps://example.com\na text')
  })
})
