import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { deadline } from '../src/deadline.ts'
import { defaultTools, webFetchTool } from '../src/index.ts'
import { isPrivateAddress } from '../src/web/private-address.ts'
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
  it('returns HTML as Markdown, and other text unchanged', async () => {
    const url = await serve((request, response) => {
      const isPage = request.url === '/'
      response.setHeader('content-type', isPage ? 'text/html; charset=utf-8' : 'application/json')
      response.end(isPage ? html : '{"a":1}')
    })
    expect((await fetchIt(url)).text).toBe(`# Hello\n\nA [link](${url}/x) and **bold**.\n\n-   one`)
    expect((await fetchIt(`${url}/data`)).text).toBe('{"a":1}')
  })

  it.each([
    ['gzip', gzipSync],
    ['GZIP', gzipSync],
    ['constructor', (text: string) => Buffer.from(text)],
    ['br', brotliCompressSync],
  ] as const)('decompresses %s, and counts the decompressed bytes', async (encoding, pack) => {
    const url = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': encoding })
      response.end(pack('x'.repeat(1_000_000)))
    })
    const { text } = await fetchIt(url, { allowPrivateAddresses: true, maxBytes: 1_000 })
    expect(text).toBe(`${'x'.repeat(1_000)}\n[The rest of the page was truncated.]`)
  })

  it('rejects private addresses unless allowed, in any notation', async () => {
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
    expect((await fetchIt(`${url}/file`, own)).text).toContain('Expected an http or https URL')
  })

  it('rejects an invalid URL before any prompt', async () => {
    for (const url of ['file:///etc/passwd', 'ftp://x/', 'javascript:1', 'no url', 'http://user:pw@example.com/']) {
      expect((await fetchIt(url)).isError, url).toBe(true)
    }
  })

  it('ends on timeout and on abort', async () => {
    const url = await serve((request, response) => {
      if (request.url === '/slow') response.writeHead(200, { 'content-type': 'text/plain' }).write('begun')
    })
    const limits = { allowPrivateAddresses: true, timeoutMs: 200 }
    expect((await fetchIt(url, limits)).text).toContain('timed out after 200 ms')
    expect((await fetchIt(`${url}/slow`, limits)).text).toContain('timed out after 200 ms')
  })

  it('reports errors of the server and rejects binary data', async () => {
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

  it('retries once when the connection breaks', async () => {
    let count = 0
    const url = await serve((request, response) => {
      if (count++ === 0) request.socket.destroy()
      else response.end('second')
    })
    expect((await fetchIt(url)).text).toBe('second')
  })

  it('survives deeply nested HTML', async () => {
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
])('private addresses: %s is %s', (address, expected) => expect(isPrivateAddress(address)).toBe(expected))

describe('WebSearch', () => {
  it('calls the host, and reports a missing searchWeb', async () => {
    const root = scratch()
    expect((await runTool(defaultTools({ root }), 'WebSearch', { query: 'signal box' })).text).toContain(
      'Web search is not configured',
    )
    const searchWeb = async (query: string) => [{ title: query, url: 'https://example.com', text: 'a text' }]
    const { text } = await runTool(defaultTools({ root, searchWeb }), 'WebSearch', { query: 'signal box' })
    expect(text).toBe('signal box\nhttps://example.com\na text')
  })
})

describe('a page as Markdown', () => {
  const page = async (body: string | Uint8Array, contentType = 'text/html') => {
    const url = await serve((_, response) => {
      response.setHeader('content-type', contentType)
      response.end(body)
    })
    return { url, text: (await fetchIt(`${url}/docs/page`)).text }
  }

  it('keeps tables', async () => {
    const { text } = await page(`<table><thead><tr><th>Name</th><th>Size</th></tr></thead>
      <tbody><tr><td>a|b</td><td>1<br>2</td></tr><tr><td><a href="x">c</a></td></tr></tbody></table><p>after</p>`)
    expect(text.replace(/http:[^)]*/, 'URL')).toBe(
      '| Name | Size |\n| --- | --- |\n| a\\|b | 1 2 |\n| [c](URL) | |\n\nafter',
    )
  })

  it('resolves relative addresses against the base of the page', async () => {
    const plain = await page(
      '<a href="../x?y#z">up</a> <a href="//other.example/">other</a> <img src="i.png" alt="pic">',
    )
    expect(plain.text).toBe(`[up](${plain.url}/x?y#z) [other](http://other.example/) ![pic](${plain.url}/docs/i.png)`)
    const based = await page('<head><base href="https://docs.example/v2/"></head><a href="x">x</a>')
    expect(based.text).toBe('[x](https://docs.example/v2/x)')
  })

  it('keeps code as it is, with and without a code element in it', async () => {
    const { text } = await page(
      '<pre>if a:\n    b_c * d</pre><pre><code class="language-ts">const x = `y`</code></pre>',
    )
    expect(text).toBe('```\nif a:\n    b_c * d\n```\n\n```ts\nconst x = `y`\n```')
  })

  it('is decoded by the charset of the page if the header has none', async () => {
    const latin = Buffer.from('<meta charset="iso-8859-1"><p>na\u00efve</p>', 'latin1')
    expect((await page(latin)).text).toBe('na\u00efve')
    const old = '<meta http-equiv="Content-Type" content="text/html; charset=windows-1252"><p>\u00e9</p>'
    expect((await page(Buffer.from(old, 'latin1'))).text).toBe('\u00e9')
    // the header wins
    expect((await page('<meta charset="iso-8859-1"><p>\u00ef</p>', 'text/html; charset=utf-8')).text).toBe('\u00ef')
    expect((await page(Buffer.from('\ufeff<p>\u00ef</p>', 'utf16le'))).text).toBe('\u00ef')
  })
})

it('a rule for an international domain name matches the fetched host', () => {
  const { matchesRule } = webFetchTool()
  const says = (spec: string, url: string) => matchesRule?.(spec, { url }, {} as never, 'deny')
  expect(says('domain:b\u00fccher.example', 'https://b\u00fccher.example/')).toBe(true)
  expect(says('domain:B\u00dcCHER.example', 'https://www.xn--bcher-kva.example/')).toBe(true)
  expect(says('domain:xn--bcher-kva.example', 'https://b\u00fccher.example/')).toBe(true)
  expect(says('domain:bucher.example', 'https://b\u00fccher.example/')).toBe(false)
})

it('a timeout fires even if everything around it is garbage-collected', async () => {
  const { setFlagsFromString } = await import('node:v8')
  const { runInNewContext } = await import('node:vm')
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const limit = deadline(new AbortController().signal, 50)
  const timer = setInterval(collect, 5)
  onTestFinished(() => clearInterval(timer))
  await new Promise((resolve) => limit.signal.addEventListener('abort', resolve))
  expect(limit.stoppedBy).toBe('timeout')
})
