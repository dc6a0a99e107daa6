import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import {
  type AnyTool,
  allowAllTools,
  createAssistantMessage,
  StreamingToolExecutor,
  type ToolResultBlock,
  toolSchemas,
} from '../../../src/index.ts'
import { fileResultStore } from '../../../src/node/index.ts'
import { runTool, scratch } from '../../tools/test/bench.ts'
import { processesWith } from '../../tools/test/processes.ts'
import { connectMcp, type Mcp, type McpServerConfig } from '../src/index.ts'
import type { After } from './http-bridge.ts'
import {
  connected,
  everything,
  everythingOverHttp,
  filesystem,
  filesystemOverHttp,
  newToken,
  nothingLeft,
} from './support.ts'

const overStdio = async (root: string, token: string, _after: After): Promise<Record<string, McpServerConfig>> => ({
  every: everything(token),
  files: filesystem(root, token),
})
const overHttp = async (root: string, token: string, after: After): Promise<Record<string, McpServerConfig>> => ({
  every: await everythingOverHttp(token, after),
  files: await filesystemOverHttp(root, token, after),
})

const tool = (mcp: Mcp, name: string): AnyTool => mcp.tools().find((each) => each.name === name) as AnyTool

describe.each([
  ['stdio', overStdio],
  ['streamable HTTP', overHttp],
] as const)('the published servers over %s', (_transport, servers) => {
  const ends: (() => void | Promise<void>)[] = []
  let root: string
  let mcp: Mcp
  beforeAll(async () => {
    const after: After = (end) => void ends.unshift(end)
    root = mkdtempSync(join(realpathSync(tmpdir()), 'signalbox-mcp-'))
    after(() => rmSync(root, { recursive: true, force: true }))
    writeFileSync(join(root, 'a.txt'), 'hello')
    writeFileSync(join(root, 'long.txt'), 'abcdefghij'.repeat(20_000))
    mcp = await connected({ servers: await servers(root, newToken(), after) }, after)
  })
  afterAll(async () => {
    for (const end of ends) await end()
  })

  it('have their tools by name, with their schemas unchanged and their hints as classes', async () => {
    expect(mcp.servers().map(({ state }) => state)).toEqual(['ready', 'ready'])
    const names = mcp.tools().map(({ name }) => name)
    expect(names).toEqual(
      expect.arrayContaining(['mcp__every__get-sum', 'mcp__files__read_text_file', 'ListMcpResources']),
    )
    const sum = toolSchemas([tool(mcp, 'mcp__every__get-sum')])[0]
    expect(sum?.input_schema).toEqual({
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: {
        a: { type: 'number', description: 'First number' },
        b: { type: 'number', description: 'Second number' },
      },
      required: ['a', 'b'],
    })
    const isSafe = (name: string) => tool(mcp, name).isConcurrencySafe?.({})
    expect(isSafe('mcp__files__read_text_file')).toBe(true)
    expect(isSafe('mcp__files__create_directory')).toBe(false)
    const asked = async (name: string) => (await tool(mcp, name).checkPermissions?.({}, {} as never))?.behavior
    expect(await asked('mcp__files__write_file')).toBe('ask')
    expect(await asked('mcp__files__create_directory')).toBeUndefined()
  })

  it('answer calls: text, structured content, images, resources, links, errors, invalid inputs', async () => {
    const run = (name: string, input: object) => runTool(mcp.tools(), name, input)
    expect(await run('mcp__every__echo', { message: 'hi' })).toMatchObject({ content: 'Echo: hi', isError: false })
    const weather = await run('mcp__every__get-structured-content', { location: 'Chicago' })
    expect(weather.data).toMatchObject({ structuredContent: { conditions: 'Light rain / drizzle' } })
    expect(JSON.parse(weather.content as string)).toMatchObject({ conditions: 'Light rain / drizzle' })
    // its text contains all of the structured content
    expect((await run('mcp__files__read_text_file', { path: join(root, 'a.txt') })).content).toBe('hello')
    const image = (await run('mcp__every__get-tiny-image', {})).content as { type: string }[]
    expect(image.map(({ type }) => type)).toEqual(['text', 'image', 'text'])
    expect(image[1]).toMatchObject({
      source: { type: 'base64', media_type: 'image/png', data: expect.stringMatching(/^iVBOR/) },
    })
    const links = (await run('mcp__every__get-resource-links', { count: 2 })).text
    expect(links).toContain('demo://resource/dynamic/')
    expect((await run('mcp__every__get-resource-reference', { resourceType: 'Text' })).text).toContain(
      'demo://resource/dynamic/text/1',
    )
    expect(await run('mcp__files__read_text_file', { path: '/etc/passwd' })).toMatchObject({
      isError: true,
      text: expect.stringContaining('Access denied'),
    })
    expect((await run('mcp__every__get-sum', { a: '2', b: 3 })).text).toContain('Send 2 without quotes')
    const write = { path: join(root, 'b.txt'), content: 'new' }
    const allow = ['mcp__files']
    const no = {
      canUseTool: async () => ({ behavior: 'deny', message: 'asked' }) as const,
      context: { permissions: { allow } },
    }
    expect((await runTool(mcp.tools(), 'mcp__files__write_file', write, no)).text).toContain('asked')
    expect(existsSync(join(root, 'b.txt'))).toBe(false)
    const yes = { canUseTool: async () => ({ behavior: 'allow' }) as const }
    await runTool(mcp.tools(), 'mcp__files__write_file', write, yes)
    expect(readFileSync(join(root, 'b.txt'), 'utf8')).toBe('new')
  })

  it('resources are listed and read', async () => {
    const list = (await runTool(mcp.tools(), 'ListMcpResources', {})).text
    expect(list).toMatch(/^every:\n- demo:\/\/resource\/static\/document\/architecture\.md/)
    expect(list).toContain('demo://resource/dynamic/text/{resourceId} (a template)')
    expect((await runTool(mcp.tools(), 'ListMcpResources', { server: 'files' })).text).toBe('files has no resources.')
    const input = { server: 'every', uri: 'demo://resource/static/document/features.md' }
    expect((await runTool(mcp.tools(), 'ReadMcpResource', input)).text).toContain('# Everything Server')
    const lost = await runTool(mcp.tools(), 'ReadMcpResource', { server: 'every', uri: 'demo://none' })
    expect(lost).toMatchObject({ isError: true, text: expect.stringContaining('every returned an error') })
    const nobody = await runTool(mcp.tools(), 'ReadMcpResource', { server: 'evry', uri: 'x' })
    expect(nobody.text).toContain('Unknown server "evry"')
    const denied = { context: { permissions: { deny: ['mcp__every'] } } }
    expect((await runTool(mcp.tools(), 'ReadMcpResource', input, denied)).isError).toBe(true)
  })

  it('a long result goes to the store like any other', async () => {
    const resultStore = fileResultStore({ folder: join(root, 'kept') })
    const executor = new StreamingToolExecutor(mcp.tools(), allowAllTools, {}, { resultStore })
    const input = { path: join(root, 'long.txt') }
    executor.addTool(
      { type: 'tool_use', id: 'a', name: 'mcp__files__read_text_file', input },
      createAssistantMessage([]),
    )
    for await (const { message } of executor.getRemainingResults()) {
      if (message.type !== 'user') continue
      const { content } = message.message.content[0] as ToolResultBlock
      const path = /The whole result is in (\S+);/.exec(String(content))?.[1]
      expect(readFileSync(path as string, 'utf8')).toHaveLength(200_000)
    }
  })

  it('progress arrives, and a cancelled call ends at once', async () => {
    const name = 'mcp__every__trigger-long-running-operation'
    const ran = await runTool(mcp.tools(), name, { duration: 0.1, steps: 4 })
    expect(ran.progress.map(({ data }) => data)).toEqual(
      [1, 2, 3, 4].map((progress) => ({ type: 'mcp_progress', progress, total: 4 })),
    )
    const executor = new StreamingToolExecutor(mcp.tools(), allowAllTools)
    executor.addTool(
      { type: 'tool_use', id: 'a', name, input: { duration: 1_000, steps: 10_000 } },
      createAssistantMessage([]),
    )
    const types: string[] = []
    for await (const { message } of executor.getRemainingResults()) {
      if (types.length === 0) executor.abort('escape')
      types.push(message.type)
    }
    expect(types.at(-1)).toBe('user')
    // the connection still works
    expect((await runTool(mcp.tools(), 'mcp__every__echo', { message: 'still here' })).text).toBe('Echo: still here')
  })
})

it('no process is left after close', async () => {
  const token = newToken()
  const mcp = await connectMcp({ servers: await overStdio(scratch(), token, onTestFinished) })
  onTestFinished(() => mcp.close())
  expect(await processesWith(token)).toHaveLength(2)
  await mcp.close()
  expect(await processesWith(token)).toEqual([])
  expect(mcp.servers().map(({ state }) => state)).toEqual(['closed', 'closed'])
  expect((await runTool(mcp.tools(), 'mcp__every__echo', { message: 'hi' })).text).toContain(
    'is not connected (closed)',
  )
  await nothingLeft(token)
})
