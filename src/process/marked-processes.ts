import { readdirSync, readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'

/** An environment variable with a unique id per run, inherited by everything that the run starts. */
export const runMarker = 'SIGNALBOX_RUN'

/** Needs `/proc`. Without it, only the process group is known. */
export async function markedProcesses(mark: string): Promise<number[]> {
  const names = await readdir('/proc').catch((): string[] => [])
  const pids = names.filter(isPid)
  const isOurs = await Promise.all(
    pids.map((pid) =>
      readFile(`/proc/${pid}/environ`, 'latin1').then(
        (text) => text.split('\0').includes(mark),
        () => false,
      ),
    ),
  )
  return pids.filter((_, index) => isOurs[index] === true).map(Number)
}

/** Synchronous, for several marks: an exit handler cannot wait. */
export function markedProcessesNow(marks: readonly string[]): number[] {
  return pidsNow()
    .filter((pid) =>
      read(`/proc/${pid}/environ`)
        .split('\0')
        .some((variable) => marks.includes(variable)),
    )
    .map(Number)
}

/** The child processes of a process. */
export function childrenOf(parent: number): number[] {
  const told = read(`/proc/${parent}/task/${parent}/children`)
  if (told !== '') return told.trim().split(' ').map(Number)
  // some kernels have no such file; in `stat`, the state and the parent follow the name
  return pidsNow()
    .filter((pid) => read(`/proc/${pid}/stat`).replace(/^.*\)/s, '').split(' ')[2] === String(parent))
    .map(Number)
}

const isPid = (name: string): boolean => /^\d+$/.test(name)

function pidsNow(): string[] {
  try {
    return readdirSync('/proc').filter(isPid)
  } catch {
    return []
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
