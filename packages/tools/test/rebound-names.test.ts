import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import { webFetchTool } from '../src/index.ts'
import { runTool } from './bench.ts'

// a foreign name that resolves to this machine, as a name server can do
vi.mock('node:dns', async (original) => ({
  ...(await original<typeof import('node:dns')>()),
  lookup: (_host: string, _options: object, done: (error: null, found: object[]) => void) =>
    done(null, [{ address: '127.0.0.1', family: 4 }]),
}))

it('a public name that resolves to a private address is rejected when connecting', async () => {
  let asked = 0
  const server = createServer((_, response) => {
    asked++
    response.end('inside')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const input = { url: `http://rebound.example:${(server.address() as AddressInfo).port}/` }
  expect((await runTool([webFetchTool()], 'WebFetch', input)).text).toContain('rebound.example is a private address')
  expect(asked).toBe(0)
  const allowing = webFetchTool({ allowPrivateAddresses: (host) => host === 'rebound.example' })
  expect((await runTool([allowing], 'WebFetch', input)).text).toBe('inside')
})
