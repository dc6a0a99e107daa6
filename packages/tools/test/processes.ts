import { readdirSync, readFileSync } from 'node:fs'

/** The command lines of processes with a text in their environment. */
export async function processesWith(token: string): Promise<string[]> {
  return pids()
    .filter((pid) => Number(pid) !== process.pid)
    .filter((pid) => read(`/proc/${pid}/environ`).includes(token))
    .map((pid) => commandLine(Number(pid)))
}

/** By the name of the program, which even an ended process keeps, or by its arguments. */
export function processesNamed(name: string): string[] {
  return pids()
    .filter((pid) => hasName(pid, name) || commandLine(Number(pid)).includes(`/${name} `))
    .map((pid) => `${pid} ${commandLine(Number(pid))}`)
}

/** An ended orphan does not count: its end is collected by the first process of the machine, whenever that comes to it. */
function hasName(pid: string, name: string): boolean {
  const stat = read(`/proc/${pid}/stat`)
  return stat.includes(`(${name})`) && !stat.includes(') Z 1 ')
}

export function childrenOf(parent: number): number[] {
  return pids()
    .map(Number)
    .filter((pid) => read(`/proc/${pid}/status`).includes(`\nPPid:\t${parent}\n`))
}

export const commandLine = (pid: number): string => read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ')

const pids = (): string[] => readdirSync('/proc').filter((name) => /^\d+$/.test(name))

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

/** Waits for a condition; the test's own timeout ends it. */
export async function eventually(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 10))
}
