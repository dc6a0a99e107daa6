import { describe, expect, it } from 'vitest'
import { runTool } from '../../tools/test/bench.ts'
import type { McpServerConfig } from '../src/index.ts'
import { mcpFailure, readFailure } from '../src/mcp-failure.ts'
import { type CallServer, mcpTool } from '../src/mcp-tool.ts'
import { readPages, readToolInfo } from '../src/read-tool-list.ts'
import { contentBlocks } from '../src/result-content.ts'

const hints = (annotations: object, config: Partial<McpServerConfig> = {}, call: CallServer = async () => ({})) => {
  const info = readToolInfo({ name: 't', inputSchema: { type: 'object' }, annotations }, () => undefined)
  if (info === undefined) throw new Error('it cannot be used')
  return mcpTool('s', 'mcp__s__t', info, { command: 'x', ...config } as McpServerConfig, call)
}

describe('a server’s claims about its tool', () => {
  it.each([
    [{}, {}, { safe: false, asks: undefined }],
    [{ readOnlyHint: true }, {}, { safe: true, asks: undefined }],
    [{ readOnlyHint: 'yes' }, {}, { safe: false, asks: undefined }],
    [{ destructiveHint: true }, {}, { safe: false, asks: 'ask' }],
    [{ readOnlyHint: true, destructiveHint: true }, {}, { safe: true, asks: undefined }],
    [{ readOnlyHint: true }, { trust: 'none' }, { safe: false, asks: undefined }],
    [{ destructiveHint: true }, { trust: 'none' }, { safe: false, asks: 'ask' }],
    [{ readOnlyHint: true }, { tools: { t: { isSafe: false, asks: true } } }, { safe: false, asks: 'ask' }],
    [{ destructiveHint: true }, { tools: { t: { isSafe: true, asks: false } } }, { safe: true, asks: undefined }],
  ] as const)('%j with %j', async (annotations, config, expected) => {
    const tool = hints(annotations, config)
    const asks = (await tool.checkPermissions?.({}, {} as never))?.behavior
    expect({ safe: tool.isConcurrencySafe?.({}), asks }).toEqual(expected)
    expect(tool.isReadOnly?.({})).toBe(expected.safe)
  })

  it('K8 names the resources that the host configured, and none by default', () => {
    const resources = { writes: ['mcp:tickets/'] }
    expect(hints({}, { tools: { t: { resources } } }).resources?.({}, {} as never)).toEqual(resources)
    expect(hints({}, {}).resources).toBeUndefined()
  })

  it.each([
    ['nothing', {}, {}, { isBroken: true }, 1],
    ['idempotentHint', { idempotentHint: true }, {}, { isBroken: true }, 2],
    ['readOnlyHint', { readOnlyHint: true }, {}, { isBroken: true }, 2],
    ['idempotentHint, of a server nobody trusts', { idempotentHint: true }, { trust: 'none' }, { isBroken: true }, 1],
    ['idempotentHint, but it was an error of the server', { idempotentHint: true }, {}, {}, 1],
    ['nothing, but the server never began', {}, {}, { isBroken: true, isUndone: true }, 2],
    ['nothing, but the host knows better', {}, { tools: { t: { isIdempotent: true } } }, { isBroken: true }, 2],
  ] as const)('%s decides how often a call is sent when the connection breaks', async (_what, annotations, config, how, times) => {
    let sent = 0
    const tool = hints(annotations, config, async () => {
      sent++
      throw mcpFailure('broken', how)
    })
    const { text } = await runTool([tool], 'mcp__s__t', {})
    expect(sent).toBe(times)
    expect(text.includes('It was tried 2 times')).toBe(times === 2)
  })
})

describe('a request that failed', () => {
  const fetchFailed = (code: string) =>
    new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) })

  it.each([
    ['nobody listened', fetchFailed('ECONNREFUSED'), { isBroken: true, isTransport: true, isUndone: true }],
    ['it broke on the way', fetchFailed('ECONNRESET'), { isBroken: true, isTransport: true, isUndone: false }],
    [
      'the program had ended',
      new Error('the server is not running'),
      { isBroken: true, isTransport: true, isUndone: true },
    ],
    [
      'the session was forgotten',
      Object.assign(new Error('x'), { data: { status: 404 } }),
      { isBroken: true, isTransport: true, isUndone: true },
    ],
    [
      'the server had trouble',
      Object.assign(new Error('x'), { data: { status: 503 } }),
      { isBroken: false, isTransport: false, isUndone: false },
    ],
    [
      'the server said so',
      Object.assign(new Error('x'), { code: -32_602 }),
      { isBroken: false, isTransport: false, isUndone: false },
    ],
    ['whatever was thrown', undefined, { isBroken: false, isTransport: false, isUndone: false }],
  ])('because %s', (_why, thrown, expected) => {
    expect(readFailure('s', thrown)).toMatchObject(expected)
  })
})

describe('content', () => {
  const texts = (content: readonly unknown[], structured?: unknown) =>
    contentBlocks(content, structured).map(({ text }) => text)

  it('that cannot be shown is described', () => {
    expect(
      texts([
        { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' },
        { type: 'image', data: 'not base64!', mimeType: 'image/png' },
        { type: 'image', data: 'AAAA', mimeType: 'image/svg+xml' },
        { type: 'resource', resource: { uri: 'file:///a.bin', mimeType: 'application/zip', blob: 'AAAA' } },
        { type: 'resource', resource: { uri: 'file:///a.txt', text: 'hello' } },
        { type: 'resource_link', uri: 'file:///b.txt', name: 'b', mimeType: 'text/plain' },
        { type: '__proto__' },
        null,
      ]),
    ).toEqual([
      '[Audio, audio/wav, 3 bytes: audio is not supported.]',
      '[image, image/png, 8 bytes: the image type is not supported, or the image is invalid or too large.]',
      '[image, image/svg+xml, 3 bytes: the image type is not supported, or the image is invalid or too large.]',
      '[file:///a.bin (application/zip): 3 bytes of binary data, not shown.]',
      '[file:///a.txt]\nhello',
      '[Resource b: file:///b.txt (text/plain). Use ReadMcpResource to read it.]',
      '[Content of an unknown type: {"type":"__proto__"}]',
      '[Invalid content: null]',
    ])
  })

  it('images are shown, up to the limit of models', () => {
    const image = { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' }
    const blocks = contentBlocks([
      ...Array(21).fill(image),
      { type: 'resource', resource: { uri: 'a', mimeType: 'image/gif', blob: 'AAAA' } },
    ])
    expect(blocks.filter(({ type }) => type === 'image')).toHaveLength(20)
    expect(blocks).toHaveLength(22)
  })

  it('structured content appears once: as the text of the server, or else as JSON', () => {
    expect(texts([{ type: 'text', text: '{"a": 1}' }], { a: 1 })).toEqual(['{"a": 1}'])
    expect(texts([{ type: 'text', text: 'Rome, 31 degrees' }], { city: 'Rome', t: 31 })).toEqual(['Rome, 31 degrees'])
    expect(texts([{ type: 'text', text: '2 found' }], { list: ['x', 'y'] })).toEqual(['2 found', '{"list":["x","y"]}'])
    expect(texts([], { list: [] })).toEqual(['{"list":[]}'])
  })
})

describe('lists', () => {
  it('an endless list is cut off', async () => {
    let asked = 0
    const forever = await readPages(
      async () => ({ tools: [{}], nextCursor: `${asked++}` }),
      'tools',
      () => undefined,
    )
    expect([forever.length, asked]).toEqual([64, 64])
    const ring = await readPages(
      async () => ({ tools: [{}], nextCursor: 'same' }),
      'tools',
      () => undefined,
    )
    expect(ring).toHaveLength(2)
  })

  it.each([
    [{ inputSchema: { type: 'object' } }, 'a tool without a name'],
    [{ name: 't', inputSchema: [] }, 'its input schema is not an object'],
    [{ name: 't', inputSchema: { type: 'array' } }, 'its input schema is not of type object'],
    [
      { name: 't', inputSchema: { type: 'object', description: 'x'.repeat(200_001) } },
      'is larger than 200000 characters',
    ],
  ])('a problem with a tool is reported, and removes only that tool', (given, problem) => {
    const warnings: string[] = []
    expect(readToolInfo(given, (warning) => warnings.push(warning))).toBeUndefined()
    expect(warnings).toEqual([expect.stringContaining(problem)])
  })

  it('a schema without a type counts as an object schema', () => {
    const properties = { a: {} }
    expect(readToolInfo({ name: 't', inputSchema: { properties } }, () => undefined)?.inputSchema).toEqual({
      properties,
      type: 'object',
    })
  })
})
