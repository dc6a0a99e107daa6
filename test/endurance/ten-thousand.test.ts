import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { builtProject } from '../../scripts/built-project.mjs'

const program = (turns: string) => `
import { getEventListeners } from 'node:events'
import { z } from 'zod'
import { allowAllTools, createAssistantMessage, StreamingToolExecutor } from 'signalbox'

process.on('warning', (warning) => console.log('warning: ' + warning.name))
process.on('unhandledRejection', () => console.log('unhandled rejection'))
const host = new AbortController()
const message = createAssistantMessage([])
const tool = (name, isSafe, call) => ({ name, inputSchema: z.object({}), isConcurrencySafe: () => isSafe, timeout: 60_000, call })
const tools = [
  tool('Quick', true, async () => ({ data: 'quick' })),
  tool('Fails', true, async () => { throw new Error('no') }),
  tool('Alone', false, async () => ({ data: 'alone' })),
  tool('Obeys', true, (_, { abortController: { signal } }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))),
  tool('Ignores', true, () => new Promise(() => undefined)),
]
const newTurn = (options) => new StreamingToolExecutor(tools, allowAllTools, { abortController: host }, options)
const add = (executor, count, names) => {
  for (let n = 0; n < count; n++) executor.addTool({ type: 'tool_use', id: 'c' + n, name: names[n % names.length], input: {} }, message)
}
const drain = async (executor) => {
  let results = 0
  for await (const _ of executor.getRemainingResults()) results++
  return results
}
${turns}
console.log(JSON.stringify({ listeners: getEventListeners(host.signal, 'abort').length, timers: process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length }))
`

const scenarios: [string, string][] = [
  [
    'one turn',
    `const executor = newTurn(); add(executor, 10_000, ['Quick', 'Fails', 'Quick', 'Alone', 'Nope']); console.log(await drain(executor))`,
  ],
  [
    'a thousand turns',
    `let results = 0
for (let n = 0; n < 1_000; n++) { const executor = newTurn(); add(executor, 10, ['Quick', 'Fails', 'Alone']); results += await drain(executor) }
console.log(results)`,
  ],
  [
    'one turn that is aborted with all of them running',
    `const executor = newTurn({ maxConcurrency: 10_000, abortGraceMs: 50 }); add(executor, 10_000, ['Obeys', 'Ignores']); host.abort('escape'); console.log(await drain(executor))`,
  ],
  [
    'one turn that is aborted with nearly all of them waiting',
    `const executor = newTurn({ abortGraceMs: 50 }); add(executor, 10_000, ['Obeys', 'Alone']); host.abort('escape'); console.log(await drain(executor))`,
  ],
]

const progressProgram = `
import { z } from 'zod'
import { allowAllTools, createAssistantMessage, StreamingToolExecutor } from 'signalbox'

let report
const tool = { name: 'T', inputSchema: z.object({}), call: (a, b, c, d, onProgress) => { report = onProgress; return new Promise(() => undefined) } }
const executor = new StreamingToolExecutor([tool], allowAllTools)
executor.addTool({ type: 'tool_use', id: 'a', name: 'T', input: {} }, createAssistantMessage([]))
const refs = []
const send = () => { const payload = { n: refs.length }; refs.push(new WeakRef(payload)); report({ data: payload }) }
const reader = executor.getCompletedResults()
send()
for (let n = 0; n < 20_000; n++) { send(); reader.next() }
await new Promise((resolve) => setImmediate(resolve))
globalThis.gc()
await new Promise((resolve) => setImmediate(resolve))
console.log(refs.filter((ref) => ref.deref() !== undefined).length < 5_000)
`

/** Runs a program with the library as it is released. */
function run(code: string, ...options: string[]) {
  const args = [...options, '--input-type=module', '--eval', code]
  return spawnSync(process.execPath, args, { cwd: builtProject(), encoding: 'utf8', timeout: 240_000 })
}

describe('ten thousand calls under one signal', () => {
  it.each(
    scenarios,
  )('A9 Y6 %s: every call answered, no warning, nothing left, and the process ends by itself', (_, turns) => {
    const { status, stdout, stderr } = run(program(turns))
    expect([status, stderr, stdout.trim().split('\n')]).toEqual([0, '', ['10000', '{"listeners":0,"timers":0}']])
  })

  it('Y2 progress that was read is released, even if the reader never catches up', () => {
    const { stdout, stderr } = run(progressProgram, '--expose-gc')
    expect([stdout.trim(), stderr]).toEqual(['true', ''])
  })
})
