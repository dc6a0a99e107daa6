import { spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import type { Writable } from 'node:stream'
import type { ProcessExit, ProcessListener, ProcessRequest, RunningProcess } from './process-runner.ts'

export interface SpawnedChild {
  readonly pid: number | undefined
  readonly exited: Promise<ProcessExit>
  readonly closed: Promise<void>
  /** File descriptor 4, between this process and the script around the program. */
  readonly control: Socket | undefined
  /** The program's stdin, if it has one. */
  readonly input?: Pick<RunningProcess, 'write' | 'endInput'>
  unref(): void
  release(): void
}

/** Starts a child in its own session, so that one signal reaches it and its children, and the terminal does not. */
export function spawnChild(
  { file, args, cwd, env, hasInput }: ProcessRequest,
  { onOutput, onErrorOutput = onOutput, onNote }: ProcessListener,
  hasControl: boolean,
): SpawnedChild {
  const stdio: ('ignore' | 'pipe')[] = [hasInput === true ? 'pipe' : 'ignore', 'pipe', 'pipe', 'pipe']
  if (hasControl) stdio.push('pipe')
  const child = spawn(file, args, { cwd, env: { ...env }, detached: true, stdio })
  const [, out, err, note, control] = child.stdio as unknown as (Socket | undefined | null)[]
  const sockets = [out, err, note, control].filter((socket) => socket !== undefined && socket !== null)
  const outputs = sockets.filter((socket) => socket !== control)
  out?.on('data', onOutput)
  err?.on('data', onErrorOutput)
  note?.on('data', (bytes: Uint8Array) => onNote?.(bytes))
  for (const socket of sockets) socket.on('error', () => undefined)
  const exited = new Promise<ProcessExit>((resolve) => {
    child.once('exit', (code, signal) => resolve({ kind: 'exited', code, signal }))
    child.once('error', (error) => resolve({ kind: 'notStarted', error }))
  })
  const closed = Promise.all(outputs.map((socket) => new Promise((resolve) => socket.once('close', resolve))))
  return {
    pid: child.pid,
    exited,
    closed: closed.then(() => undefined),
    control: control ?? undefined,
    ...(hasInput === true && child.stdin !== null && { input: inputOf(child.stdin) }),
    unref: () => {
      child.unref()
      for (const socket of sockets) socket.unref()
    },
    release: () => {
      for (const socket of sockets) socket.destroy()
      child.stdin?.destroy()
      child.removeAllListeners()
    },
  }
}

function inputOf(stdin: Writable): Pick<RunningProcess, 'write' | 'endInput'> {
  stdin.on('error', () => undefined)
  return {
    write: (text) =>
      new Promise((resolve, reject) => stdin.write(text, (error) => (error ? reject(error) : resolve()))),
    endInput: () => void stdin.end(),
  }
}
