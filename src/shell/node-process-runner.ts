import { type StdioOptions, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import type { ProcessExit, ProcessRunner, RunningProcess } from './process-runner.ts'
import { runMarker } from './run-marker.ts'

/** Groups that run now, and their marks: none of them outlives this process, as far as it can help it. */
const liveGroups = new Map<number, string>()

/** At the very end there is no time to wait: KILL at once, to the groups and to whoever left them. */
function killAll(): void {
  const marks = [...liveGroups.values()]
  for (const pid of liveGroups.keys()) quietly(() => process.kill(-pid, 'SIGKILL'))
  quietly(() => {
    for (const pid of readdirSync('/proc').filter(isPid)) {
      quietly(() => {
        const variables = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0')
        if (marks.some((mark) => variables.includes(mark))) process.kill(Number(pid), 'SIGKILL')
      })
    }
  })
}

/** The processes of this machine. */
export const nodeProcessRunner: ProcessRunner = {
  start({ file, args, cwd, env, hasInput }, { onOutput, onErrorOutput = onOutput, onNote }) {
    // its own session, so that one signal reaches it and all its children, and no terminal does
    const stdio: StdioOptions = [hasInput === true ? 'pipe' : 'ignore', 'pipe', 'pipe', 'pipe']
    const child = spawn(file, args, { cwd, env: { ...env }, detached: true, stdio })
    const { pid } = child
    const [, out, err, note] = child.stdio as unknown as Readable[]
    const streams = [out, err, note].filter((stream) => stream !== undefined && stream !== null)
    out?.on('data', onOutput)
    err?.on('data', onErrorOutput)
    note?.on('data', (bytes: Uint8Array) => onNote?.(bytes))
    for (const stream of streams) stream.on('error', () => undefined)
    if (pid !== undefined) join(pid, `${runMarker}=${env[runMarker]}`)
    const exited = new Promise<ProcessExit>((resolve) => {
      child.once('exit', (code, signal) => resolve({ kind: 'exited', code, signal }))
      child.once('error', (error) => resolve({ kind: 'notStarted', error }))
    })
    const closed = Promise.all(streams.map((stream) => new Promise((resolve) => stream.once('close', resolve))))
    const running: RunningProcess = {
      exited,
      closed: closed.then(() => undefined),
      ...(hasInput === true && child.stdin !== null && inputOf(child.stdin)),
      signalGroup: (signal) => {
        if (pid !== undefined) quietly(() => process.kill(-pid, signal))
      },
      unref: () => {
        child.unref()
        for (const stream of streams) (stream as Socket).unref()
      },
      release: () => {
        if (pid !== undefined) leave(pid)
        for (const stream of streams) stream.destroy()
        child.stdin?.destroy()
        child.removeAllListeners()
      },
    }
    return running
  },
  findMarked,
  signal: (pid, signal) => quietly(() => process.kill(pid, signal)),
}

function inputOf(stdin: Writable): Pick<RunningProcess, 'write' | 'endInput'> {
  stdin.on('error', () => undefined)
  return {
    write: (text) =>
      new Promise((resolve, reject) => stdin.write(text, (error) => (error ? reject(error) : resolve()))),
    endInput: () => void stdin.end(),
  }
}

function join(pid: number, mark: string): void {
  if (liveGroups.size === 0) process.on('exit', killAll)
  liveGroups.set(pid, mark)
}

function leave(pid: number): void {
  liveGroups.delete(pid)
  if (liveGroups.size === 0) process.off('exit', killAll)
}

/** Only where there is a `/proc`; elsewhere the group is all that is known. */
async function findMarked(marker: string): Promise<number[]> {
  const names = await readdir('/proc').catch((): string[] => [])
  const pids = names.filter(isPid)
  const isOurs = await Promise.all(
    pids.map((pid) =>
      readFile(`/proc/${pid}/environ`, 'latin1').then(
        (text) => text.split('\0').includes(marker),
        () => false,
      ),
    ),
  )
  return pids.filter((_, index) => isOurs[index] === true).map(Number)
}

const isPid = (name: string): boolean => /^\d+$/.test(name)

/** What is gone already needs no signal. */
function quietly(send: () => void): void {
  try {
    send()
  } catch {}
}
