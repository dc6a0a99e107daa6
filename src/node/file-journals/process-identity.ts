import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/** Identifies a process among all processes of all machines. Fields that the system does not provide are missing. */
export interface ProcessIdentity {
  readonly host: string
  /** Changes with each boot of the machine. */
  readonly boot?: string | undefined
  /** Process ids are unique only within one PID namespace. */
  readonly namespace?: string | undefined
  readonly pid: number
  /** When the process started, to distinguish it from a later process with the same id. */
  readonly start?: string | undefined
}

/** The known state of the process that holds a lock. `unknown`: it is elsewhere, or its id may be that of another process. */
export type Liveness = 'alive' | 'dead' | 'unknown'

/** This process, and its checks of other processes. Tests replace it. */
export interface ProcessView {
  readonly self: ProcessIdentity
  liveness(other: ProcessIdentity): Liveness
}

export function thisProcess(): ProcessView {
  const machine = attempt(() => readFileSync('/etc/machine-id', 'utf8').trim())
  const self: ProcessIdentity = {
    host: machine ? `${hostname()} ${machine}` : hostname(),
    boot: attempt(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    namespace: attempt(() => readlinkSync('/proc/self/ns/pid')),
    pid: process.pid,
    start: processStat(process.pid)?.start,
  }
  return { self, liveness: (other) => livenessOf(self, other, { isThere, processStat }) }
}

export function livenessOf(
  self: ProcessIdentity,
  other: ProcessIdentity,
  look: { isThere: typeof isThere; processStat: typeof processStat },
): Liveness {
  if (other.host !== self.host) return 'unknown'
  if (differ(self.boot, other.boot)) return 'dead'
  if (differ(self.namespace, other.namespace)) return 'unknown'
  if (!look.isThere(other.pid)) return 'dead'
  const found = look.processStat(other.pid)
  if (found === undefined || other.start === undefined) return 'unknown'
  return found.isOver || found.start !== other.start ? 'dead' : 'alive'
}

const differ = (one: string | undefined, two: string | undefined): boolean =>
  one !== undefined && two !== undefined && one !== two

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as { code?: unknown }).code !== 'ESRCH'
  }
}

/** From Linux' /proc: the start in ticks since the boot. A process that has ended but was not waited for is over. */
function processStat(pid: number): { readonly start: string; readonly isOver: boolean } | undefined {
  const text = attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
  // the name is in brackets and may contain anything
  const [state, ...fields] = text?.slice(text.lastIndexOf(')') + 2).split(' ') ?? []
  const start = fields[18]
  return start === undefined ? undefined : { start, isOver: state === 'Z' || state === 'X' }
}

function attempt(read: () => string): string | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
