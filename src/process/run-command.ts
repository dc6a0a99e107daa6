import { randomBytes } from 'node:crypto'
import { readField } from '../base/read-field.ts'
import { endNote } from './end-note.ts'
import { endProcess, type Grace } from './end-process.ts'
import { runMarker } from './marked-processes.ts'
import { createOutputKeeper, type OutputKeeper } from './output-keeper.ts'
import type { ProcessExit, ProcessRequest, ProcessRunner } from './process-runner.ts'
import { signalOf } from './signals.ts'

export interface CommandRequest {
  readonly command: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly bash: string
  readonly timeoutMs: number
  readonly maxOutputChars: number
  readonly maxOutputBytes: number
  readonly grace: Grace
  readonly runner: ProcessRunner
  /** Runs the program in a sandbox, or on another machine. */
  readonly wrapCommand?: WrapCommand | undefined
  readonly onOutput?: ((text: string) => void) | undefined
  /** The host may end while the command runs, which ends the command too. */
  readonly isBackground?: boolean | undefined
}

/** Replaces the program that is run for a command, for example with one that runs it in a sandbox. */
export type WrapCommand = (request: ProcessRequest) => ProcessRequest | Promise<ProcessRequest>

export interface CommandOutcome {
  readonly output: string
  readonly outputBytes: number
  readonly exitCode: number | undefined
  readonly signal: string | undefined
  readonly endedBy: 'itself' | 'timeout' | 'abort' | 'outputLimit' | 'notStarted'
  /** The working directory of the shell at its end, if it could report it. */
  readonly cwd: string | undefined
  readonly error?: string | undefined
}

export interface RunningCommand {
  readonly finished: Promise<CommandOutcome>
  readonly output: OutputKeeper
  stop(): void
}

const maxNote = 8_192

/** Runs a command in bash, exactly as it was parsed. Leaves no process behind, however the command ends. */
export function startCommand(request: CommandRequest): RunningCommand {
  const output = createOutputKeeper(request.maxOutputChars)
  const stopping = new AbortController()
  return { output, stop: () => stopping.abort(), finished: run(request, output, stopping.signal) }
}

async function run(request: CommandRequest, output: OutputKeeper, stop: AbortSignal): Promise<CommandOutcome> {
  const { runner, grace, timeoutMs, maxOutputBytes, wrapCommand = (plain) => plain } = request
  const id = randomBytes(12).toString('hex')
  // a separate id: any program can print the mark from its environment
  const end = endNote(randomBytes(12).toString('hex'))
  const plain: ProcessRequest = {
    file: request.bash,
    args: ['--noprofile', '--norc', '-c', end.prelude + request.command],
    cwd: request.cwd,
    env: { ...request.env, [runMarker]: id },
  }
  let timer: ReturnType<typeof setTimeout> | undefined
  let flooded: (why: 'outputLimit') => void = () => undefined
  const tooMuch = new Promise<'outputLimit'>((resolve) => {
    flooded = resolve
  })
  const late = new Promise<'timeout'>((resolve) => {
    timer = setTimeout(() => resolve('timeout'), timeoutMs)
  })
  let note = ''
  try {
    const wrapped = await wrapCommand(plain)
    // stopped before it started
    if (stop.aborted) return outcomeOf('abort', { kind: 'exited', code: null, signal: null }, output, note)
    const running = runner.start(
      { ...wrapped, env: { ...wrapped.env, [runMarker]: id } },
      {
        onOutput(bytes) {
          if (output.bytes > maxOutputBytes) return flooded('outputLimit')
          const text = output.add(end.take(bytes))
          request.onOutput?.(text)
        },
        onNote: (bytes) => {
          note = (note + Buffer.from(bytes).toString('utf8')).slice(-maxNote)
        },
      },
    )
    if (request.isBackground === true) {
      running.unref()
      timer?.unref()
    }
    const stopped = new Promise<'abort'>((resolve) => {
      stop.addEventListener('abort', () => resolve('abort'), { once: true })
    })
    const first = await Promise.race([running.exited, late, stopped, tooMuch])
    await endProcess(runner, running, `${runMarker}=${id}`, grace)
    output.add(end.rest())
    return outcomeOf(typeof first === 'string' ? first : 'itself', await running.exited, output, note || end.text())
  } catch (error) {
    return outcomeOf('notStarted', { kind: 'notStarted', error }, output, note)
  } finally {
    clearTimeout(timer)
  }
}

function outcomeOf(
  endedBy: CommandOutcome['endedBy'],
  exit: ProcessExit,
  output: OutputKeeper,
  note: string,
): CommandOutcome {
  const cwd = note.split('\n').findLast((line) => line.startsWith('/'))
  const said = { output: output.text(), outputBytes: output.bytes, cwd }
  if (exit.kind === 'notStarted') {
    const error = String(readField(exit.error, 'message') ?? exit.error)
    return { ...said, exitCode: undefined, signal: undefined, endedBy: 'notStarted', error }
  }
  // a shell that waits reports 143 for TERM, while bash itself meant to exit with another code
  const meant = note.match(/^exit (\d+)$/m)?.[1]
  const signal =
    exit.code !== null && meant !== undefined && Number(meant) !== exit.code ? signalOf(exit.code) : undefined
  if (signal !== undefined) return { ...said, exitCode: undefined, signal, endedBy }
  return { ...said, exitCode: exit.code ?? undefined, signal: exit.signal ?? undefined, endedBy }
}
