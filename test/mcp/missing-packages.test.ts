import { afterEach, expect, it, vi } from 'vitest'

const without = async (name: string): Promise<typeof import('../../src/mcp/index.ts')> => {
  vi.resetModules()
  vi.doMock(name, () => {
    throw new Error(`Cannot find package '${name}'`)
  })
  return import('../../src/mcp/index.ts')
}

afterEach(() => {
  vi.doUnmock('@modelcontextprotocol/client')
  vi.doUnmock('@modelcontextprotocol/server')
  vi.resetModules()
})

it('without the client no server is connected, and each says what to install', async () => {
  const { connectMcp } = await without('@modelcontextprotocol/client')
  const mcp = await connectMcp({ servers: { a: { command: 'x' } } })
  expect(mcp.servers()).toMatchObject([
    { state: 'failed', problem: expect.stringContaining('npm install @modelcontextprotocol/client') },
  ])
  await mcp.close()
})

it('without the server nothing is served, and the error says what to install', async () => {
  const { serveMcp } = await without('@modelcontextprotocol/server')
  await expect(serveMcp({ tools: [] })).rejects.toMatchObject({
    code: 'missing_package',
    message: expect.stringContaining('npm install @modelcontextprotocol/server'),
  })
})
