import { join } from 'node:path'
import { expect, it } from 'vitest'
import { put, scratch } from '../../tools/test/bench.ts'
import { connectMcp, readMcpConfig } from '../src/index.ts'

const write = (config: unknown): string =>
  put(join(scratch(), '.mcp.json'), typeof config === 'string' ? config : JSON.stringify(config))

const variable = (name: string): string => ['$', '{', name, '}'].join('')

it('the usual file is read, with environment variables', async () => {
  const path = write({
    mcpServers: {
      files: {
        type: 'stdio',
        command: 'npx',
        args: ['-y', 'server', variable('ROOT:-/tmp')],
        env: { KEY: variable('KEY') },
      },
      docs: { type: 'http', url: 'https://docs.example/mcp', headers: { Authorization: `Bearer ${variable('KEY')}` } },
      off: { disabled: true, command: 'none' },
    },
    somethingElse: 1,
  })
  expect(await readMcpConfig(path, { KEY: 'k1' })).toEqual({
    files: { command: 'npx', args: ['-y', 'server', '/tmp'], env: { KEY: 'k1' } },
    docs: { url: 'https://docs.example/mcp', headers: { Authorization: 'Bearer k1' } },
  })
  await expect(readMcpConfig(path, {})).rejects.toThrow(/\.mcp\.json: files: environment variable KEY is not set/)
})

it.each([
  ['{', /invalid JSON/],
  [{ servers: {} }, /expected an object with mcpServers/],
  [{ mcpServers: { a: 7 } }, /a: expected an object, received 7/],
  [{ mcpServers: { a: {} } }, /servers\.a.*: expected a command or a url/],
  [{ mcpServers: { a: { command: 'x', args: [1] } } }, /servers\.a\.args\.0: .*expected string/],
  [{ mcpServers: { a: { url: 'ftp://x' } } }, /servers\.a\.url/],
  [{ mcpServers: { a: { type: 'sse', url: 'http://x' } } }, /has type sse/],
  [{ mcpServers: { a: { command: 'x', comand: 'y' } } }, /comand/],
])('%j is rejected with the problem', async (config, problem) => {
  await expect(readMcpConfig(write(config))).rejects.toThrow(problem)
})

it('the error for a missing file names it', async () => {
  await expect(readMcpConfig('/nowhere/.mcp.json')).rejects.toThrow('/nowhere/.mcp.json: cannot read the file')
})

it.each([
  [{}, /servers: expected an object of servers/],
  [{ servers: { 'a.b': { command: 'x' }, a_b: { command: 'x' } } }, /"a\.b" and "a_b" would both become mcp__a_b/],
  [{ servers: { '…': { command: 'x' } } }, /no letter or digit/],
  [{ servers: { a: { command: 'x', trust: 'blind' } } }, /servers\.a\.trust/],
  [{ servers: { a: { command: 'x', tools: { t: { safe: true } } } } }, /servers\.a\.tools\.t/],
  [{ servers: {}, reconnect: { minMs: -1 } }, /reconnect\.minMs: expected milliseconds/],
])('options such as %j are rejected on connect', async (options, problem) => {
  await expect(connectMcp(options as never)).rejects.toThrow(problem)
})
