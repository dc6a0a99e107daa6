import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { builtProject } from '../../../scripts/built-project.mjs'
import { runTool, scratch } from '../../tools/test/bench.ts'
import { eventually, processesWith } from '../../tools/test/processes.ts'
import { connected, newToken, nothingLeft, programOf } from './support.ts'

const built = builtProject()
const cli = join(built, 'packages/cli/dist/main.js')
let folder: string

/** Ends while its server runs, without closing it. */
const forgetful = `
import { connectMcp } from ${JSON.stringify(join(built, 'packages/mcp/dist/index.js'))}
const mcp = await connectMcp({ servers: { every: { command: process.execPath, args: [${JSON.stringify(programOf('everything'))}], env: { TOKEN: process.env.TOKEN }, wrapCommand: (plain) => ({ ...plain, file: '/bin/sh', args: ['-c', 'sleep 1000 & exec "$@"', 'sh', plain.file, ...plain.args] }) } } })
console.log(mcp.servers()[0].state)
process.env.ENDS === 'killed' ? process.kill(process.pid, 'SIGKILL') : process.exit(0)
`

beforeAll(() => {
  folder = mkdtempSync(join(realpathSync(tmpdir()), 'signalbox-mcp-cli-'))
  writeFileSync(join(folder, 'forgetful.mjs'), forgetful)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const textOf = (result: { content?: unknown }): string => (result.content as { text: string }[])[0]?.text ?? ''

describe('signalbox mcp-serve', () => {
  it('serves our tools over stdio, asks before it writes, and ends with its client', async () => {
    const token = newToken()
    const root = scratch({ 'a.txt': 'hello' })
    const client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: { form: {} } } })
    const asked: string[] = []
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      asked.push(params.message)
      return { action: 'accept', content: { allow: true } }
    })
    const args = [
      cli,
      'mcp-serve',
      '--cwd',
      root,
      '--tools',
      'Read,Write,Bash',
      '--allow',
      'Bash(echo *)',
      '--deny',
      'Bash(rm *)',
    ]
    const env = { TOKEN: token, PATH: process.env.PATH ?? '' }
    await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: 'pipe' }))
    onTestFinished(() => client.close())
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['Read', 'Write', 'Bash'])
    expect(textOf(await client.callTool({ name: 'Read', arguments: { file_path: 'a.txt' } }))).toContain('hello')
    await client.callTool({ name: 'Write', arguments: { file_path: 'b.txt', content: 'new' } })
    expect(readFileSync(join(root, 'b.txt'), 'utf8')).toBe('new')
    expect(asked).toEqual(['May Write run?\nfile_path:\n│ b.txt\ncontent:\n│ new'])
    expect(textOf(await client.callTool({ name: 'Bash', arguments: { command: 'echo hi' } }))).toContain('hi')
    expect((await client.callTool({ name: 'Bash', arguments: { command: 'rm a.txt' } })).isError).toBe(true)
    const leftOver = client.callTool({ name: 'Bash', arguments: { command: 'echo; sleep 1000' } }).catch(() => 'gone')
    await eventually(async () => (await processesWith(root)).some((line) => line.includes('sleep')))
    await client.close()
    await leftOver
    await nothingLeft(token)
    await eventually(async () => (await processesWith(root)).length === 0)
  })

  it('serves the tools of other servers under its own rules, and ends those servers with it', async () => {
    const token = newToken()
    const root = scratch({ 'a.txt': 'hello' })
    const every = { command: process.execPath, args: [programOf('everything'), 'stdio'], env: { TOKEN: token } }
    const file = join(root, '.mcp.json')
    writeFileSync(file, JSON.stringify({ mcpServers: { every, none: { command: '/nowhere/at/all' } } }))
    const rules = ['--allow', 'mcp__every__echo', '--deny', 'mcp__every__get-sum']
    const args = [cli, 'mcp-serve', '--cwd', root, '--tools', 'Read', '--mcp', file, '--inspect', ...rules]
    const transport = new StdioClientTransport({ command: process.execPath, args, stderr: 'pipe' })
    let said = ''
    transport.stderr?.on('data', (text) => {
      said += text
    })
    const client = new Client({ name: 'test', version: '1' })
    await client.connect(transport)
    onTestFinished(() => client.close())
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['Read', 'mcp__every__echo']))
    const echo = await client.callTool({ name: 'mcp__every__echo', arguments: { message: 'through' } })
    expect(textOf(echo)).toBe('Echo: through')
    const sum = await client.callTool({ name: 'mcp__every__get-sum', arguments: { a: 1, b: 2 } })
    expect(sum.isError).toBe(true)
    expect(said).toContain('the MCP server none is not connected')
    expect(said).toContain('The inspector is at http://127.0.0.1:')
    await client.close()
    await nothingLeft(token)
  })

  it('serves a client that does not read stderr', async () => {
    const child = spawn(process.execPath, [cli, 'mcp-serve', '--cwd', scratch({}), '--tools', 'Read'])
    onTestFinished(() => void child.kill('SIGKILL'))
    child.stderr.destroy()
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'deaf', version: '1' } }
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`)
    const [answer] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit').then(() => ['it ended'])])
    expect(String(answer)).toContain('"id":1')
  })

  it('serves them over HTTP, with an inspector beside it; our own client uses the newest protocol with it', async () => {
    const root = scratch({ 'a.txt': 'hello' })
    const child = spawn(process.execPath, [cli, 'mcp-serve', '--http', '--token', 'secret', '--cwd', root, '--inspect'])
    onTestFinished(() => void child.kill('SIGKILL'))
    let printed = ''
    child.stderr.on('data', (text) => {
      printed += text
    })
    await eventually(() => /inspector is at http:\S+\n/.test(printed))
    const url = /Serving MCP at (\S+),/.exec(printed)?.[1] as string
    const mcp = await connected({ servers: { own: { url, headers: { Authorization: 'Bearer secret' } } } })
    expect(mcp.servers()).toMatchObject([{ state: 'ready', protocolVersion: '2026-07-28' }])
    expect((await runTool(mcp.tools(), 'mcp__own__Read', { file_path: 'a.txt' })).text).toContain('hello')
    expect((await runTool(mcp.tools(), 'mcp__own__Write', { file_path: 'b.txt', content: '' })).text).toContain(
      'cannot ask',
    )
    const locked = await connected({ servers: { own: { url } } })
    expect(locked.servers()).toMatchObject([{ state: 'failed', problem: expect.stringContaining('401') }])
    const exit = new Promise((done) => child.once('exit', done))
    child.kill('SIGTERM')
    expect(await exit).toBe(0)
  })

  it.each([
    [['--tools', 'Paint'], 'Unknown tool Paint. Known tools: Read'],
    [['--port', '80'], 'require --http'],
    [['--permission-mode', 'wild'], 'Allowed choices are'],
    [['--colour'], '--colour'],
  ])('%j is rejected', (args, problem) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [cli, 'mcp-serve', ...args], { encoding: 'utf8' })
    expect(status).toBe(2)
    expect(stdout + stderr).toContain(problem)
  })
})

it.each(['by itself', 'killed'])('the servers of a host that ends without closing them, %s, end too', async (how) => {
  const token = newToken()
  const { stdout } = spawnSync(process.execPath, [join(folder, 'forgetful.mjs')], {
    encoding: 'utf8',
    env: { ...process.env, TOKEN: token, ENDS: how },
    timeout: 60_000,
  })
  expect(stdout).toBe('ready\n')
  await nothingLeft(token)
})
