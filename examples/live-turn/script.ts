import { z } from 'zod'
import { type AnyTool, defineTool, type ToolUseBlock } from '../../src/index.ts'

/** Waits, and stops waiting when the call is stopped. */
const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal.addEventListener('abort', stop, { once: true })
  })

const pretend = (name: string, isSafe: boolean, outcome: (of: string) => string): AnyTool =>
  defineTool({
    name,
    inputSchema: z.object({ file_path: z.string(), ms: z.number() }),
    isConcurrencySafe: () => isSafe,
    interruptBehavior: () => (isSafe ? 'cancel' : 'block'),
    async *call({ file_path, ms }, { abortController: { signal } }) {
      for (let step = 1; step <= 4; step++) {
        await sleep(ms / 4, signal)
        yield { type: 'progress', data: step / 4 }
      }
      yield { type: 'result', data: outcome(file_path) }
    },
  })

export const tools: AnyTool[] = [
  pretend('Read', true, (path) => `the text of ${path}`),
  pretend('Grep', true, (pattern) => `7 lines match ${pattern}`),
  pretend('Fetch', true, (url) => {
    throw new RangeError(`404 Not Found: ${url}`)
  }),
  pretend('Write', false, (path) => `wrote ${path}`),
  pretend('Edit', false, (path) => `changed 2 lines of ${path}`),
]

/** What the scripted model says: words, and calls between them, each after a while. */
export interface StreamPart {
  readonly afterMs: number
  readonly text?: string
  readonly block?: ToolUseBlock
}

let calls = 0
const call = (name: string, file_path: string, ms: number): StreamPart => ({
  afterMs: 250,
  block: { type: 'tool_use', id: `toolu_${++calls}`, name, input: { file_path, ms } },
})
const says = (text: string): StreamPart => ({ afterMs: 150, text })

/** Calls of every kind: quick and slow, safe and unsafe, one that fails and one that nobody knows. */
export const scriptedReply = (): StreamPart[] => [
  says('Let me look at what is there.'),
  call('Read', 'src/index.ts', 2400),
  call('Read', 'src/parse.ts', 600),
  call('Grep', 'TODO', 900),
  call('Fetch', 'https://example.com/spec', 700),
  says('Then I write the fix.'),
  call('Write', 'src/fix.ts', 900),
  call('Deploy', 'production', 100),
  says('And I check it.'),
  call('Read', 'src/fix.ts', 500),
  call('Edit', 'src/index.ts', 700),
  call('Read', 'README.md', 400),
]
