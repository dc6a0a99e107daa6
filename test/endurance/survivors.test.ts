import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { builtProject } from '../../scripts/built-project.mjs'

const built = builtProject()

/** Turns on one build, whose minor collections the process prints. */
const program = (work: string) => `
import { allowAllTools, createAssistantMessage, createToolUseContext, query, StreamingToolExecutor } from '${join(built, 'dist/src/index.js')}'
import { scriptedModel } from '${join(built, 'dist/src/query/scripted/index.js')}'
import { z } from '${join(built, 'node_modules/zod/index.js')}'
const tools = [{
  name: 'Read', inputSchema: z.object({ n: z.number() }), isConcurrencySafe: () => true, call: async ({ n }) => ({ data: 'x' + n }),
}]
${work}
`
const executors = `
const calls = Array.from({ length: 20 }, (_, n) => ({ type: 'tool_use', id: 'toolu_' + n, name: 'Read', input: { n } }))
const message = createAssistantMessage([])
for (let turn = 0; turn < 4_000; turn++) {
  const executor = new StreamingToolExecutor(tools, allowAllTools, createToolUseContext())
  for (const call of calls) executor.addTool(call, message)
  for await (const _ of executor.getRemainingResults());
}`
const queries = `
const calls = Array.from({ length: 20 }, (_, n) => ({ call: 'Read', input: { n } }))
for (let turn = 0; turn < 2_000; turn++) {
  for await (const _ of query({ messages: 'go', tools, model: scriptedModel([calls, 'done']), canUseTool: allowAllTools }));
}`

/** The part of what was allocated that minor collections kept. */
async function survivors(work: string): Promise<number> {
  const flags = ['--trace-gc', '--min-semi-space-size=16', '--max-semi-space-size=16', '--input-type=module']
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, '--eval', program(work)])
  let before: number | undefined
  let kept = 0
  let allocated = 0
  for (const [, kind, from, to] of stdout.matchAll(/(Scavenge|Mark-Compact)[^\n]*? ([\d.]+) \([\d.]+\) -> ([\d.]+)/g)) {
    if (kind === 'Scavenge' && before !== undefined) {
      kept += Number(to) - before
      allocated += Number(from) - before
    }
    before = Number(to)
  }
  expect(allocated).toBeGreaterThan(200)
  return kept / allocated
}

// A turn that survives minor collections, although nobody holds it, costs twice: it is copied, and it fills the heap.
describe('A9 what turns leave behind is collected while it is young', () => {
  it('executors', async () => expect(await survivors(executors)).toBeLessThan(0.05))
  it('queries', async () => expect(await survivors(queries)).toBeLessThan(0.12))
})
