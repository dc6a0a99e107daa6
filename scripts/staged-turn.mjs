import { z } from 'zod'
import { createAssistantMessage, defineTool, StreamingToolExecutor } from '../dist/src/index.js'
import { serveInspector } from '../dist/src/inspect/server/index.js'

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const inputSchema = z.looseObject({
  file_path: z.string().optional(),
  command: z.string().optional(),
  pattern: z.string().optional(),
})

/** A turn that stops at a characteristic moment, with the inspector attached. */
export async function stagedTurn(scene) {
  const holds = new Map()
  const held = (id) => new Promise((resolve, reject) => holds.set(id, { resolve, reject }))
  const tool = (name, isSafe, more = {}) =>
    defineTool({
      name,
      inputSchema,
      isConcurrencySafe: () => isSafe,
      interruptBehavior: () => (isSafe ? 'cancel' : 'block'),
      ...more,
      async call(_input, { toolUseID, abortController }, _canUse, _message, onProgress) {
        onProgress({ toolUseID, data: 0.25 })
        const { signal } = abortController
        const stop = new Promise((_, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
        )
        const text = await Promise.race([held(toolUseID), stop])
        return { data: text }
      },
    })
  const tools = [
    tool('Read', true),
    tool('Grep', true),
    tool('Fetch', true),
    tool('Bash', false, { cancelsSiblingsOnError: true }),
    tool('Write', false),
  ]
  const questions = new Map()
  const canUseTool = (used, _input, _context, _message, id) =>
    used.name !== 'Fetch' ? { behavior: 'allow' } : new Promise((resolve) => questions.set(id, resolve))
  const executor = new StreamingToolExecutor(tools, canUseTool, {}, { maxConcurrency: scene === 'thousand' ? 10 : 4 })
  const server = await serveInspector([], { record: 'always', commands: true })
  server.add(executor, { title: 'turn 1' })
  const reply = createAssistantMessage([])
  const add = (id, name, input) => executor.addTool({ type: 'tool_use', id, name, input }, reply)
  const drain = () => void Array.from(executor.getCompletedResults())
  await scenes[scene]({ add, holds, drain, executor, questions })
  return { url: server.url, selected: { busy: 5, aborted: 2 }[scene], executor, close: () => server.close() }
}

const finish = async (holds, id, text, ms) => {
  await pause(ms)
  holds.get(id).resolve(text)
  await pause(5)
}

const scenes = {
  async busy({ add, holds, drain }) {
    add('toolu_01', 'Read', { file_path: 'src/index.ts' })
    await pause(90)
    add('toolu_02', 'Grep', { pattern: 'TODO' })
    await finish(holds, 'toolu_01', 'export * from "./parse.ts"', 240)
    drain()
    add('toolu_03', 'Read', { file_path: 'src/parse.ts' })
    await pause(60)
    add('toolu_04', 'Read', { file_path: 'src/print.ts' })
    await finish(holds, 'toolu_02', '7 lines match', 200)
    drain()
    add('toolu_05', 'Fetch', { file_path: 'https://example.com/spec' })
    await finish(holds, 'toolu_04', 'export const print = …', 150)
    add('toolu_06', 'Write', { file_path: 'src/fix.ts', content: 'export const fix = 1\n' })
    await pause(70)
    add('toolu_07', 'Read', { file_path: 'src/fix.ts' })
    add('toolu_08', 'Bash', { command: 'npm test' })
    await pause(120)
    add('toolu_09', 'Read', { file_path: 'README.md' })
    add('toolu_10', 'Grep', { pattern: 'fix' })
    await pause(260)
  },
  async aborted({ add, holds, drain }) {
    add('toolu_01', 'Read', { file_path: 'src/index.ts' })
    add('toolu_02', 'Read', { file_path: 'src/parse.ts' })
    await finish(holds, 'toolu_01', 'export * from "./parse.ts"', 160)
    await finish(holds, 'toolu_02', 'export const parse = …', 60)
    drain()
    add('toolu_03', 'Bash', { command: 'npm test' })
    add('toolu_04', 'Read', { file_path: 'test/parse.test.ts' })
    add('toolu_05', 'Write', { file_path: 'src/fix.ts' })
    add('toolu_06', 'Read', { file_path: 'src/fix.ts' })
    await pause(220)
    holds.get('toolu_03').reject(new Error('exit code 1: 2 tests failed'))
    await pause(20)
    drain()
    await pause(20)
  },
  async thousand({ add, holds, drain, executor }) {
    const names = ['Read', 'Read', 'Grep', 'Read', 'Write', 'Read', 'Read', 'Bash']
    for (let index = 0; index < 1_000; index++) {
      const name = names[(index * 7 + (index >> 3)) % names.length]
      add(
        `toolu_${index}`,
        name,
        name === 'Bash' ? { command: `make ${index}` } : { file_path: `src/part-${index}.ts` },
      )
    }
    const { run } = executor.actor.getSnapshot().context
    for (let done = 0; done < 640; done++) {
      const executing = [...run.executing]
      const call = executing[(done * 5) % executing.length]
      while (!holds.has(call.id)) await pause(0)
      if (call.name === 'Read' && done % 37 === 5) holds.get(call.id).reject(new Error('no such file'))
      else holds.get(call.id).resolve(`done ${call.id}`)
      while (run.executing.has(call) || run.executing.size === 0) await pause(0)
      if (done % 6 === 0) drain()
    }
    await pause(5)
  },
}
