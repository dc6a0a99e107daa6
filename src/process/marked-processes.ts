import { readdirSync, readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'

/** Only where there is a `/proc`; elsewhere the group is all that is known. */
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

/** The same with any of several marks, for the very end, when nothing can be waited for. */
export function markedProcessesNow(marks: readonly string[]): number[] {
  return pidsNow()
    .filter((pid) =>
      read(`/proc/${pid}/environ`)
        .split('\0')
        .some((variable) => marks.includes(variable)),
    )
    .map(Number)
}

/** The processes that a process has started and that still belong to it. */
export function childrenOf(parent: number): number[] {
  const told = read(`/proc/${parent}/task/${parent}/children`)
  if (told !== '') return told.trim().split(' ').map(Number)
  // some kernels do not tell; the fields after the name are the state and the parent
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
