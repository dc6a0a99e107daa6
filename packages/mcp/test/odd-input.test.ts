import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { allowAllTools, createAssistantMessage, createToolUseContext } from '../../../src/index.ts'
import { simulatedClock } from '../../../src/testing/index.ts'
import { mcpServe } from '../../cli/src/mcp-serve/mcp-serve.ts'
import { serveMcp } from '../src/index.ts'
import { createLineReader } from '../src/line-reader.ts'
import { mcpTool } from '../src/mcp-tool.ts'
import { parseMcpConfig } from '../src/read-mcp-config.ts'
import { readToolInfo } from '../src/read-tool-list.ts'
import { connected } from './support.ts'

describe('the output of a program', () => {
  it('is read up to the first line that is too long; earlier lines are complete', () => {
    const reader = createLineReader(10)
    expect(reader.read(Buffer.from('one\ntwo\n0123456789x'))).toEqual({ lines: ['one', 'two'], isTooLong: true })
    const other = createLineReader(10)
    expect(other.read(Buffer.from('one\n0123456789x\nthree\n'))).toEqual({ lines: ['one'], isTooLong: true })
    const third = createLineReader(10)
    expect(third.read(Buffer.from('01234'))).toEqual({ lines: [], isTooLong: false })
    expect(third.read(Buffer.from('56789\nx'))).toEqual({ lines: ['0123456789'], isTooLong: false })
  })

  it('is decoded without broken characters, however it is chunked', async () => {
    const heard: string[] = []
    const words = `for (const byte of Buffer.from('é漢')) { require('fs').writeSync(2, Buffer.from([byte])); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60) }`
    const mcp = await connected({
      servers: { odd: { command: process.execPath, args: ['-e', words] } },
      reconnect: { attempts: 1 },
      onStderr: ({ text }) => heard.push(text),
    })
    await mcp.close()
    expect(heard.join('')).toMatch(/^(é漢)+$/)
    expect(mcp.servers()[0]?.problem).not.toContain('\ufffd')
  })
})

describe('a file of servers', () => {
  it.each(['toString', 'constructor', '__proto__'])('does not resolve %s from a prototype', (name) => {
    const text = JSON.stringify({ mcpServers: { a: { command: `\${${name}}` } } })
    expect(() => parseMcpConfig(text, 'f.json', { HOME: '/' })).toThrow(`environment variable ${name} is not set`)
  })
})

it('a timeout that timers do not support is shortened to the longest supported one', async () => {
  const asked: number[] = []
  const inner = simulatedClock()
  const clock = {
    setTimeout: (fn: () => void, ms: number) => {
      asked.push(ms)
      return inner.setTimeout(fn, ms)
    },
    clearTimeout: (id: unknown) => inner.clearTimeout(id as never),
  }
  const servers = { odd: { command: process.execPath, args: ['-e', ''], connectMs: 4_000_000_000 } }
  const mcp = await connected({ servers, clock, reconnect: { minMs: 1e12, maxMs: Number.POSITIVE_INFINITY } })
  expect(mcp.servers()[0]?.state).toBe('backingOff')
  expect(asked).toHaveLength(2)
  expect(Math.max(...asked)).toBeLessThan(2 ** 31)
})

describe('our tools over HTTP', () => {
  it('are not served with an empty token', async () => {
    const http = { host: '0.0.0.0', token: '' }
    await expect(serveMcp({ tools: [], transport: { http } })).rejects.toThrow('token must not be empty')
  })

  it('report an address that cannot be used', async () => {
    const taken = createServer()
    await new Promise<void>((resolve) => void taken.listen(0, '127.0.0.1', resolve))
    const { port } = taken.address() as AddressInfo
    const served = mcpServe({ root: process.cwd(), http: { port } }, new Promise(() => undefined), () => undefined)
    await expect(served).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('cannot listen'),
    })
    taken.close()
  })
})

describe('data of a server that nests without limit', () => {
  let deep: unknown = 'end'
  for (let depth = 0; depth < 100_000; depth++) deep = [deep]
  const info = {
    name: 'odd',
    description: undefined,
    inputSchema: { type: 'object' } as const,
    outputSchema: undefined,
  }
  const hints = { isReadOnly: true, isDestructive: false, isIdempotent: false }

  it('does not affect the other content', async () => {
    const answer = {
      content: [
        { type: 'text', text: 'hello' },
        { type: 'odd', deep },
      ],
      structuredContent: { deep },
    }
    const tool = mcpTool('s', 'mcp__s__odd', { ...info, hints }, { command: 'x' }, async () => answer)
    const context = { ...createToolUseContext(), toolUseID: 'a' }
    const result = (await tool.call({}, context, allowAllTools, createAssistantMessage([]), () => undefined)) as {
      data: unknown
    }
    expect(JSON.stringify(tool.mapResult?.(result.data, 'a'))).toContain('hello')
    expect(JSON.stringify(result.data).match(/it nests too deeply/g)).toHaveLength(2)
  })

  it('in a schema removes only that tool', () => {
    const warned: string[] = []
    const inputSchema = { type: 'object', deep }
    expect(readToolInfo({ name: 'odd', inputSchema }, (problem) => warned.push(problem))).toBeUndefined()
    expect(warned).toEqual(['its tool "odd": its input schema nests too deeply, so it cannot be used'])
    expect(readToolInfo({ name: 'odd', outputSchema: { deep } }, () => undefined)?.outputSchema).toBeUndefined()
  })
})
