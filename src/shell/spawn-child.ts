import { spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import type { ProcessExit, ProcessListener, ProcessRequest } from './process-runner.ts'

export interface SpawnedChild {
  readonly pid: number | undefined
  readonly exited: Promise<ProcessExit>
  readonly closed: Promise<void>
  /** Channel 4, between this process and what guards the program. */
  readonly control: Socket | undefined
  unref(): void
  release(): void
}

/** A child in a session of its own, so that one signal reaches it and its children, and no terminal does. */
export function spawnChild(
  { file, args, cwd, env }: ProcessRequest,
  { onOutput, onError = onOutput, onNote }: ProcessListener & { onError?(bytes: Uint8Array): void },
  hasControl: boolean,
): SpawnedChild {
  const stdio = ['ignore', 'pipe', 'pipe', 'pipe', ...(hasControl ? ['pipe' as const] : [])] as ('ignore' | 'pipe')[]
  const child = spawn(file, args, { cwd, env: { ...env }, detached: true, stdio })
  const [, out, err, note, control] = child.stdio as unknown as (Socket | undefined | null)[]
  const sockets = [out, err, note, control].filter((socket) => socket !== undefined && socket !== null)
  const outputs = sockets.filter((socket) => socket !== control)
  out?.on('data', onOutput)
  err?.on('data', onError)
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
    unref: () => {
      child.unref()
      for (const socket of sockets) socket.unref()
    },
    release: () => {
      for (const socket of sockets) socket.destroy()
      child.removeAllListeners()
    },
  }
}
