import { randomBytes } from 'node:crypto'
import type { HookCallback, HookInput, HookOutput } from 'signalbox'
import { endProcess, groupRunner, runMarker } from 'signalbox/node'

export interface HookSurroundings {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
}

const maxChars = 1_000_000
const grace = { termMs: 500, drainMs: 200 }

/**
 * A command as a hook, in Claude Code's public format: the input as JSON on stdin; exit code 0 with JSON on stdout
 * returns a decision, 2 blocks with stderr as the reason, any other code is a failure of the hook.
 */
export function shellHook(command: string, { cwd, env }: HookSurroundings): HookCallback {
  const hook: HookCallback = async (input, _, { signal }) => {
    signal.throwIfAborted()
    const id = randomBytes(12).toString('hex')
    const said = { out: '', err: '' }
    const hear = (channel: keyof typeof said) => (bytes: Uint8Array) => {
      if (said[channel].length < maxChars) said[channel] += Buffer.from(bytes).toString('utf8')
    }
    const running = groupRunner.start(
      {
        file: 'bash',
        args: ['--noprofile', '--norc', '-c', command],
        cwd,
        env: { ...variables(env), SIGNALBOX_PROJECT_DIR: cwd, CLAUDE_PROJECT_DIR: cwd, [runMarker]: id },
        hasInput: true,
      },
      { onOutput: hear('out'), onErrorOutput: hear('err') },
    )
    const end = (): void => void running.signalGroup('SIGKILL')
    signal.addEventListener('abort', end, { once: true })
    try {
      // a hook need not read stdin
      await running.write?.(`${JSON.stringify(input)}\n`).catch(() => undefined)
      running.endInput?.()
      const exit = await running.exited
      // its last output may arrive after its exit
      await endProcess(groupRunner, running, `${runMarker}=${id}`, grace)
      signal.throwIfAborted()
      if (exit.kind === 'notStarted') throw new Error('bash was not found')
      return readReply(exit.code, said.out, said.err, input, command)
    } finally {
      signal.removeEventListener('abort', end)
    }
  }
  return Object.defineProperty(hook, 'name', { value: command.slice(0, 60) })
}

function readReply(code: number | null, out: string, err: string, input: HookInput, command: string): HookOutput {
  if (code === 2) return { decision: 'block', reason: err.trim() || `The hook ${command} blocked this call.` }
  if (code !== 0)
    throw new Error(
      `the hook exited with ${code === null ? 'a signal' : `exit code ${code}`}: ${err.trim().slice(0, 2_000)}`,
    )
  if (!out.trim().startsWith('{')) return {}
  try {
    return JSON.parse(out) as HookOutput
  } catch (error) {
    throw new Error(`its output for ${input.hook_event_name} is not JSON: ${(error as Error).message}`)
  }
}

const variables = (env: HookSurroundings['env']): Record<string, string> =>
  Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
