import { expect, it } from 'vitest'
import { toolSchemas } from '../../src/index.ts'
import { runTool, scratch } from '../tools/bench.ts'
import { processesWith } from '../tools/processes.ts'
import { connected, everything, filesystem, newToken } from './support.ts'

it('look', async () => {
  const token = newToken()
  const root = scratch({ 'a.txt': 'hello' })
  const mcp = await connected({ servers: { every: everything(token), files: filesystem(root, token) }, onWarning: (w) => console.log(w) })
  console.log(mcp.servers())
  console.log(JSON.stringify(toolSchemas(mcp.tools()).map(({ name, input_schema }) => [name, input_schema])).slice(0, 3000))
  console.log(await runTool(mcp.tools(), 'mcp__every__echo', { message: 'hi' }))
  console.log(await runTool(mcp.tools(), 'mcp__every__echo', { mesage: 'hi' }))
  console.log(await runTool(mcp.tools(), 'mcp__files__read_text_file', { path: `${root}/a.txt` }))
  console.log((await runTool(mcp.tools(), 'ListMcpResources', { })).text.slice(0, 1000))
  expect((await processesWith(token)).length).toBe(2)
  await mcp.close()
  expect(await processesWith(token)).toEqual([])
})
