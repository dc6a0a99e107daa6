import type { ProcessRunner, RunningProcess } from './process-runner.ts'

export interface Grace {
  /** The time between TERM and KILL. */
  readonly termMs: number
  /** How long to wait for the remaining output after all processes have ended. */
  readonly drainMs: number
}

const lookMs = 10
const maxLooks = 200

/**
 * Ends a program and everything that it started: TERM to the group and to marked processes outside it, a grace period,
 * then KILL until no process is found. Resolves when no process of the program runs any more.
 */
export async function endProcess(
  runner: ProcessRunner,
  running: RunningProcess,
  marker: string,
  { termMs, drainMs }: Grace,
): Promise<void> {
  running.signalGroup('SIGTERM')
  if (running.gone === undefined) await endMarked(runner, running, marker, termMs)
  else await endAll(running, running.gone, termMs)
  // a process that escaped may hold the output open for ever
  await within(running.closed, drainMs)
  running.release()
}

/** The kernel knows which processes belong to the namespace, so there is no search for marked processes. */
async function endAll(running: RunningProcess, gone: Promise<void>, termMs: number): Promise<void> {
  if (await within(gone, termMs)) return
  for (let look = 0; look < maxLooks; look++) {
    running.signalGroup('SIGKILL')
    if (await within(gone, lookMs)) return
  }
}

async function endMarked(
  runner: ProcessRunner,
  running: RunningProcess,
  marker: string,
  termMs: number,
): Promise<void> {
  const left = await signalMarked(runner, marker, 'SIGTERM')
  const hasExited = await within(running.exited, left > 0 ? lookMs : termMs)
  if (left > 0 || !hasExited) await until(async () => !(await isAnyLeft(runner, running, marker)), termMs)
  for (let look = 0; look < maxLooks; look++) {
    running.signalGroup('SIGKILL')
    if ((await signalMarked(runner, marker, 'SIGKILL')) === 0 && (await within(running.exited, lookMs))) break
    await pause(lookMs)
  }
}

async function isAnyLeft(runner: ProcessRunner, running: RunningProcess, marker: string): Promise<boolean> {
  return !(await within(running.exited, 0)) || (await runner.findMarked(marker)).length > 0
}

async function signalMarked(runner: ProcessRunner, marker: string, signal: 'SIGTERM' | 'SIGKILL'): Promise<number> {
  const pids = await runner.findMarked(marker)
  for (const pid of pids) runner.signal(pid, signal)
  return pids.length
}

async function until(holds: () => Promise<boolean>, ms: number): Promise<void> {
  const end = performance.now() + ms
  while (!(await holds()) && performance.now() < end) await pause(lookMs)
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Whether a promise settles in time. Leaves no timer behind. Infinity and times that timers do not support are no limit. */
export async function within(promise: Promise<unknown>, ms: number): Promise<boolean> {
  if (ms >= 2 ** 31) return promise.then(() => true)
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms)
  })
  const inTime = await Promise.race([promise.then(() => true), late])
  clearTimeout(timer)
  return inTime
}
