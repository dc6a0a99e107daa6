import { request } from 'node:http'
import { PassThrough } from 'node:stream'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { type AnyTool, defineTool, type StreamingToolExecutor } from '../../../src/index.ts'
import { serveInspector } from '../../../src/inspect/server/index.ts'
import { type HeldRun, type HeldTool, heldTool } from '../../../src/testing/index.ts'
import { eventually } from '../../tools/test/processes.ts'
import { type ServedMcp, type ServeMcpOptions, serveMcp } from '../src/index.ts'
import { lineTransport } from './line-transport.ts'

interface Pair {
  readonly client: Client
  readonly served: ServedMcp
}

type Answer = { action: 'accept' | 'decline'; content?: Record<string, boolean> }

/** The official client, old or new, connected to our server. */
async function pair(
  kind: 'stdio' | 'http',
  mode: 'legacy' | 'auto',
  options: ServeMcpOptions,
  answer?: (message: string) => Answer | Promise<Answer>,
): Promise<Pair> {
  const capabilities = answer === undefined ? {} : { elicitation: { form: {} } }
  const client = new Client({ name: 'test', version: '1' }, { capabilities, versionNegotiation: { mode } })
  if (answer !== undefined) {
    client.setRequestHandler('elicitation/create', async ({ params }) => answer(params.message) as never)
  }
  const input = new PassThrough()
  const output = new PassThrough()
  const transport = kind === 'stdio' ? { input, output } : { http: {} }
  const served = await serveMcp({ ...options, transport })
  onTestFinished(() => served.close())
  await client.connect(
    kind === 'stdio' ? lineTransport(output, input) : new StreamableHTTPClientTransport(new URL(served.url as string)),
  )
  onTestFinished(() => client.close())
  expect(client.getProtocolEra()).toBe(mode === 'auto' ? 'modern' : 'legacy')
  return { client, served }
}

const runOf = (held: HeldTool, at: number): HeldRun => held.run(held.started[at] as string)

const textOf = (result: { content?: unknown }): string => (result.content as { text: string }[])[0]?.text ?? ''

const picture = defineTool({
  name: 'Picture',
  inputSchema: z.object({ of: z.string() }),
  isReadOnly: () => true,
  isConcurrencySafe: () => true,
  call: async ({ of }) => ({
    data: [
      { type: 'text', text: `a picture of ${of}` },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
    ],
  }),
}) as AnyTool

const allowed = { permissions: { mode: 'bypassPermissions' } } as const

describe.each([
  ['stdio', 'legacy'],
  ['stdio', 'auto'],
  ['http', 'legacy'],
  ['http', 'auto'],
] as const)('our server over %s, with the official client (%s)', (kind, mode) => {
  it('serves tools with schemas and hints, results with images, and errors as errors', async () => {
    const write = defineTool({
      name: 'Write',
      inputSchema: z.object({ path: z.string() }),
      call: async () => {
        throw new Error('the disk is full')
      },
    }) as AnyTool
    const { client } = await pair(kind, mode, { ...allowed, tools: [picture, write] })
    const { tools } = await client.listTools()
    expect(tools.map(({ name, annotations }) => [name, annotations])).toEqual([
      ['Picture', { readOnlyHint: true, destructiveHint: false, idempotentHint: true }],
      ['Write', { readOnlyHint: false, destructiveHint: true }],
    ])
    expect(tools[0]?.inputSchema).toEqual({ type: 'object', properties: { of: { type: 'string' } }, required: ['of'] })
    expect((await client.callTool({ name: 'Picture', arguments: { of: 'Rome' } })).content).toEqual([
      { type: 'text', text: 'a picture of Rome' },
      { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' },
    ])
    const failed = await client.callTool({ name: 'Write', arguments: { path: 'a' } })
    expect([failed.isError, textOf(failed)]).toEqual([true, expect.stringContaining('Error: the disk is full')])
    const unfit = await client.callTool({ name: 'Write', arguments: { pth: 'a' } })
    expect([unfit.isError, textOf(unfit)]).toEqual([true, expect.stringContaining('You sent pth; name it path.')])
    const none = await client.callTool({ name: 'Paint', arguments: {} })
    expect([none.isError, textOf(none)]).toEqual([true, expect.stringContaining('No such tool available: Paint')])
  })

  it('has one gate: safe calls in parallel, an unsafe one alone, each answered when it completes', async () => {
    const look = heldTool('Look', { safe: true })
    const change = heldTool('Change')
    const { client } = await pair(kind, mode, { ...allowed, tools: [look.tool, change.tool] })
    const done: string[] = []
    const call = (name: string, id: string) =>
      client.callTool({ name, arguments: { id } }).then((result) => done.push(`${id} ${textOf(result)}`))
    const first = call('Look', 'a')
    await eventually(() => look.started.length === 1)
    const second = call('Look', 'b')
    await eventually(() => look.started.length === 2)
    const third = call('Change', 'c')
    // no client waits for an earlier call of another client
    runOf(look, 1).finish({ data: 'seen' })
    await second
    expect(done).toEqual(['b seen'])
    expect(change.started).toHaveLength(0)
    runOf(look, 0).finish({ data: 'seen too' })
    await first
    await eventually(() => change.started.length === 1)
    const fourth = call('Look', 'd')
    runOf(change, 0).finish({ data: 'changed' })
    await third
    await eventually(() => look.started.length === 3)
    runOf(look, 2).finish({ data: 'seen last' })
    await fourth
    expect(done).toEqual(['b seen', 'a seen too', 'c changed', 'd seen last'])
  })

  it('reports progress, and stops only the call that is cancelled', async () => {
    const slow = heldTool('Slow', { safe: true, obedient: true })
    const { client } = await pair(kind, mode, { ...allowed, tools: [slow.tool] })
    const told: unknown[] = []
    const stop = new AbortController()
    const options = {
      signal: stop.signal,
      onprogress: (progress: { message?: string | undefined }) => void told.push(progress.message),
    }
    const stoppedCall = client
      .callTool({ name: 'Slow', arguments: { id: 'a' } }, options)
      .catch((error: Error) => error)
    const other = client.callTool({ name: 'Slow', arguments: { id: 'b' } })
    await eventually(() => slow.started.length === 2)
    runOf(slow, 0).progress({ text: 'half of it' })
    await eventually(() => told.length === 1)
    expect(told).toEqual(['half of it'])
    stop.abort('enough')
    expect(await stoppedCall).toBeInstanceOf(Error)
    await eventually(() => runOf(slow, 0).context.abortController.signal.aborted === true)
    expect(runOf(slow, 1).context.abortController.signal.aborted).toBe(false)
    runOf(slow, 1).finish({ data: 'done' })
    expect(textOf(await other)).toBe('done')
  })

  it('asks the client for permission; a client that cannot ask gets an error', async () => {
    const change = defineTool({
      name: 'Change',
      inputSchema: z.object({ file_path: z.string() }),
      call: async ({ file_path }) => ({ data: `changed ${file_path}` }),
    }) as AnyTool
    const asked: string[] = []
    const permissions = { deny: ['Picture'] }
    const { client } = await pair(kind, mode, { tools: [change, picture], permissions }, (message) => {
      asked.push(message)
      return message.includes('b.txt') ? { action: 'decline' } : { action: 'accept', content: { allow: true } }
    })
    expect(textOf(await client.callTool({ name: 'Change', arguments: { file_path: 'a.txt' } }))).toBe('changed a.txt')
    const denied = await client.callTool({ name: 'Change', arguments: { file_path: 'b.txt' } })
    expect([denied.isError, textOf(denied)]).toEqual([true, 'The user denied this call. It did not run.'])
    const never = await client.callTool({ name: 'Picture', arguments: { of: 'x' } })
    expect(textOf(never)).toContain('denied by the rule "Picture"')
    expect(asked).toEqual(['a', 'b'].map((name) => `May Change run?\nfile_path:\n│ ${name}.txt`))
    const hostile = 'b.txt\u001b[2J\u202e'
    await client.callTool({ name: 'Change', arguments: { file_path: hostile } })
    expect(asked.at(-1)).toBe('May Change run?\nfile_path:\n│ b.txt⟨ESC⟩[2J⟨U+202E⟩')
    const wary = { ...change, checkPermissions: () => ({ behavior: 'ask', message: 'why\nfile_path:\r' }) } as AnyTool
    const other = await pair(kind, mode, { tools: [wary] }, (message) => {
      asked.push(message)
      return { action: 'decline' }
    })
    await other.client.callTool({ name: 'Change', arguments: { file_path: 'c.txt' } })
    // a reason does not pass for a part of the input
    expect(asked.at(-1)).toBe('May Change run?\nasked because:\n│ why\n│ file_path:⟨CR⟩\nfile_path:\n│ c.txt')
    const mute = await pair(kind, mode, { tools: [change] })
    const refused = await mute.client.callTool({ name: 'Change', arguments: { file_path: 'a.txt' } })
    expect(textOf(refused)).toContain('this client cannot ask for it')
  })
})

it('a failing call stops no other, and a body that ignores its abort is abandoned after its grace period', async () => {
  const shell = heldTool('Shell', { safe: true, cancelsSiblingsOnError: true })
  const executor = { abortGraceMs: 1 }
  const { client } = await pair('stdio', 'legacy', { ...allowed, tools: [shell.tool], executor })
  const stop = new AbortController()
  const bad = client.callTool({ name: 'Shell', arguments: {} })
  const good = client.callTool({ name: 'Shell', arguments: {} })
  const deaf = client.callTool({ name: 'Shell', arguments: {} }, { signal: stop.signal }).catch(() => 'stopped')
  await eventually(() => shell.started.length === 3)
  runOf(shell, 0).fail(new Error('exit 1'))
  expect((await bad).isError).toBe(true)
  stop.abort()
  await deaf
  runOf(shell, 1).finish({ data: 'fine' })
  expect(textOf(await good)).toBe('fine')
})

it('the inspector shows the calls of every executor', async () => {
  const inspector = await serveInspector([])
  onTestFinished(() => inspector.close())
  const executors: StreamingToolExecutor[] = []
  const onExecutor = (executor: StreamingToolExecutor) => {
    executors.push(executor)
    inspector.add(executor)
  }
  const { client } = await pair('stdio', 'legacy', { ...allowed, tools: [picture], onExecutor })
  for (let n = 0; n <= 200; n++) await client.callTool({ name: 'Picture', arguments: { of: `${n}` } })
  expect(executors).toHaveLength(2)
  expect(executors[0]?.actor.getSnapshot().context.run.calls).toHaveLength(200)
})

it('over HTTP only authorized requests are answered', async () => {
  const served = await serveMcp({ tools: [picture], transport: { http: { token: 'secret' } } })
  onTestFinished(() => served.close())
  const url = served.url as string
  const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })
  const ask = async (headers: Record<string, string>, path = url) =>
    (await fetch(path, { method: 'POST', headers: { Authorization: 'Bearer secret', ...headers }, body: ping })).status
  expect(await ask({ Authorization: 'Bearer guess' })).toBe(401)
  expect(await ask({ Origin: 'https://evil.example' })).toBe(403)
  expect(await ask({}, url.replace('/mcp', '/'))).toBe(404)
  const { port } = new URL(url)
  const rebound = await new Promise<number | undefined>((resolve) =>
    request({ port, path: '/mcp', headers: { Host: `evil.example:${port}` } }, ({ statusCode }) =>
      resolve(statusCode),
    ).end(),
  )
  expect(rebound).toBe(421)
  const large = await fetch(url, {
    method: 'POST',
    headers: { Authorization: 'Bearer secret' },
    body: 'x'.repeat(5_000_000),
  }).catch(() => ({ status: 413 }))
  expect(large.status).toBe(413)
  expect(
    await ask({
      'mcp-session-id': 'guess',
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
    }),
  ).toBe(404)
  await expect(serveMcp({ tools: [], transport: { http: { host: '0.0.0.0' } } })).rejects.toThrow('Set a token')
})
