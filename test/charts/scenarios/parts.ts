import type { HookOutput, PermissionAnswer } from '../../../src/index.ts'
import { heldTool } from '../../support/held-tool.ts'
import { testTurn } from '../../support/turn.ts'

export const turn = (options: Parameters<typeof testTurn>[1] = {}) => {
  const read = heldTool('Read', { safe: true })
  const write = heldTool('Write')
  const search = heldTool('Search', { safe: true, cancel: true })
  const fetch = heldTool('Fetch', { cancel: true })
  const bash = heldTool('Bash', { safe: true, cancelsSiblingsOnError: true })
  const strict = heldTool('Strict', {
    cancel: true,
    cancelsSiblingsOnError: true,
    validateInput: (input) =>
      new Promise((resolve) => {
        verdicts.push(() => resolve('bad' in input ? { result: false, message: 'bad' } : { result: true }))
      }),
  })
  const verdicts: (() => void)[] = []
  const tools = [read, write, search, fetch, bash, strict].map(({ tool }) => tool)
  return { ...testTurn(tools, options), read, write, search, fetch, bash, strict, verdicts }
}

export const asking = () => {
  const answers = new Map<string, (answer: PermissionAnswer) => void>()
  const parts = turn({
    canUseTool: (_tool, _input, _context, _message, id) => new Promise((resolve) => answers.set(id, resolve)),
  })
  return { ...parts, answer: (id: string, answer: PermissionAnswer) => answers.get(id)?.(answer) }
}

/** A hook that returns what the test wants, when the test wants it. */
export const heldHook = () => {
  const says: ((output: HookOutput) => void)[] = []
  const signals: AbortSignal[] = []
  return {
    signals,
    get runs() {
      return says.length
    },
    say: (output: HookOutput = {}) => says.shift()?.(output),
    hook: (_input: unknown, _id: unknown, { signal }: { signal: AbortSignal }): Promise<HookOutput> => {
      signals.push(signal)
      return new Promise((resolve) => says.push(resolve))
    },
  }
}

/** The return value of a pre-hook that changes the input. */
export const changedTo = (updatedInput: Record<string, unknown>): HookOutput => ({
  hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput },
})

export const ids = (results: [string, unknown][]) => results.map(([id]) => id)
