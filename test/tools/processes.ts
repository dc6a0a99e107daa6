import { readdirSync, readFileSync } from 'node:fs'

/** The command lines of processes that have a text in their environment. */
export async function processesWith(token: string): Promise<string[]> {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => read(`/proc/${pid}/environ`).includes(token))
    .map((pid) => read(`/proc/${pid}/cmdline`).replaceAll('\0', ' '))
}

/** Processes that are dead and not yet buried, by the state that `/proc` tells. */
export function zombies(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => /^State:\tZ/m.test(read(`/proc/${pid}/status`)))
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

/** Waits for something that will come; the test's own limit ends it if it does not. */
export async function eventually(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 10))
}
