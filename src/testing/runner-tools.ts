import type { RemoteTool } from '../remote/index.ts'
import { schemaHashOf } from '../remote/index.ts'

const schemaText = JSON.stringify({ properties: {}, type: 'object' })

/** The tools of the suite, as one module without imports of packages: workers load it from its `data:` URL. */
const source = `
const { appendFileSync, readFileSync } = await import(\`node:fs\`)
const inputSchema = {
  toJSONSchema: () => (${schemaText}),
  safeParseAsync: async (data) => data.isWrong ? { success: false, error: new Error('isWrong') } : { success: true, data },
}
const tool = (name, call, more = {}) => ({ name, inputSchema, call, ...more })
const begin = ({ file, name }) => file && appendFileSync(file, name + ' ' + process.pid + '\\n')
const times = ({ file, name }) => readFileSync(file, 'utf8').split('\\n').filter((line) => line.startsWith(name + ' ')).length
const stopped = ({ signal }) => new Promise((resolve) => signal.aborted ? resolve() : signal.addEventListener('abort', resolve))
const never = new Promise(() => undefined)
const alive = () => setInterval(() => undefined, 1_000)

export const tools = [
  tool('Answer', async (input, context) => {
    begin(input)
    return { data: { said: input.say, toolUseID: context.toolUseID, tenant: context.tenant }, structuredOutput: { a: 1 } }
  }),
  tool('Throw', async (input) => {
    begin(input)
    throw Object.assign(new RangeError('no such row'), { code: 'ENOROW' })
  }),
  tool('Steps', async function* (input) {
    for (let n = 1; n <= input.steps; n++) yield { type: 'progress', data: n }
    yield { type: 'result', data: 'done' }
  }),
  tool('Hold', async (input, { abortController }, _can, _message, onProgress) => {
    begin(input)
    const timer = alive()
    onProgress({ data: 'began' })
    await stopped(abortController)
    clearInterval(timer)
    return { data: 'stopped', interrupted: true }
  }),
  tool('Pause', async (input, _context, _can, _message, onProgress) => {
    begin(input)
    onProgress({ data: 'began' })
    await new Promise((resolve) => setTimeout(resolve, input.ms))
    return { data: 'finished' }
  }),
  tool('Deaf', async (input, _context, _can, _message, onProgress) => {
    begin(input)
    alive()
    onProgress({ data: 'began' })
    return never
  }),
  tool('Busy', async (input) => {
    begin(input)
    const end = Date.now() + input.ms
    while (Date.now() < end);
    return { data: 'finished' }
  }),
  tool('SecondTime', async (input, _context, _can, _message, onProgress) => {
    begin(input)
    onProgress({ data: 'began' })
    if (times(input) > 1) return { data: 'second time' }
    alive()
    return never
  }),
  tool('Twist', async () => ({ data: 1, contextModifier: (context) => context })),
  tool('Long', async (input) => ({ data: 'x'.repeat(input.size) })),
  tool('Versioned', async (input) => (begin(input), { data: 'version 2' }), { version: '2' }),
]
`

export const runnerTools: string = `data:text/javascript,${encodeURIComponent(source)}`

/** A tool of the suite, as a call names it. */
export const suiteTool = (name: string, change: Partial<RemoteTool> = {}): RemoteTool => ({
  name,
  version: name === 'Versioned' ? '2' : undefined,
  schemaHash: schemaHashOf(schemaText),
  ...change,
})
