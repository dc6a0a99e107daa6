import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/** The folder of a build: the argument, `SIGNALBOX_DIST`, or the project's `dist`. */
export const distOf = (named) => resolve(named ?? process.env.SIGNALBOX_DIST ?? join(import.meta.dirname, '..', 'dist'))

/** One turn of N calls through a given build, so that builds can be compared. */
export async function builtTurn(dist, options) {
  const entry = join(dist, 'src', 'index.js')
  const zod = dirname(createRequire(entry).resolve('zod/package.json'))
  const { allowAllTools, createAssistantMessage, createToolUseContext, StreamingToolExecutor } = await load(entry)
  const { z } = await load(join(zod, 'index.js'))
  const tools = toolsWith(z.object({ n: z.number(), text: z.string() }))
  const assistantMessage = createAssistantMessage([])
  return async (calls) => {
    const executor = new StreamingToolExecutor(tools, allowAllTools, createToolUseContext(), options)
    for (const block of calls) executor.addTool(block, assistantMessage)
    let count = 0
    for await (const { message } of executor.getRemainingResults()) if (message) count++
    if (count !== calls.length) throw new Error(`${count} results for ${calls.length} calls`)
  }
}

export const builtCalls = (count, mix) =>
  Array.from({ length: count }, (_, n) => ({
    type: 'tool_use',
    id: `toolu_${n}`,
    name: mix === 'unsafe' || (mix === 'alternating' && n % 2 === 1) ? 'Write' : 'Read',
    input: { n, text: 'line' },
  }))

const load = (path) => import(pathToFileURL(path).href)

const toolsWith = (inputSchema) =>
  ['Read', 'Write'].map((name) => ({
    name,
    inputSchema,
    isConcurrencySafe: () => name === 'Read',
    call: async ({ n, text }) => ({ data: `${text} ${n}` }),
  }))
