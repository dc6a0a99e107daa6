import { spawnSync } from 'node:child_process'
import { findProgram } from './find-program.ts'

/** How a program is put into a PID namespace here. */
export interface NamespaceCommand {
  readonly bash: string
  /** What comes before the first process of the namespace. */
  readonly enter: readonly string[]
  /** What comes before the program, to take away what only the first process may do. */
  readonly drop: readonly string[]
}

export type NamespaceProbe =
  | { readonly ok: true; readonly command: NamespaceCommand }
  | { readonly ok: false; readonly why: string }

// stands for this process: it starts a namespace, hears from it, and is killed. What is left would hold the output.
const host = `coproc NS { exec "$@"; }; read -r word <&"\${NS[0]}" || exit 1; echo "$word"; kill -KILL $$`
const inside = `set -e
read -r pid rest </proc/self/stat
[ "$pid" = 1 ]
echo "ok $UID"
exec sleep 30`
const probeMs = 10_000

let known: NamespaceProbe | undefined

/** Tries it out once: makes a namespace, looks whether all is right in it, and whether it dies with its host. */
export function probeNamespace(): NamespaceProbe {
  known ??= probe()
  return known
}

function probe(): NamespaceProbe {
  if (process.platform !== 'linux') return { ok: false, why: 'only Linux has PID namespaces' }
  const [bash, setpriv, unshare] = ['bash', 'setpriv', 'unshare'].map((name) => findProgram(name, process.env.PATH))
  if (bash === undefined) return { ok: false, why: 'bash was not found' }
  if (setpriv === undefined || unshare === undefined) return { ok: false, why: 'util-linux was not found' }
  // without root it takes a user namespace, in which the user stays the same
  const isRoot = process.getuid?.() === 0
  const user = isRoot ? [] : ['--user', '--map-current-user', '--keep-caps']
  const namespace = ['--pid', '--fork', '--kill-child', '--mount-proc', '--propagation', 'unchanged']
  const command: NamespaceCommand = {
    bash,
    enter: [setpriv, '--pdeathsig', 'KILL', '--', unshare, ...user, ...namespace, '--'],
    drop: isRoot ? [] : [setpriv, '--inh-caps=-all', '--ambient-caps=-all', '--'],
  }
  const plainBash = [bash, '--noprofile', '--norc', '-p', '-c']
  const [file = '', ...args] = [...plainBash, host, 'host', ...command.enter, ...plainBash, inside]
  const { stdout, stderr, error, signal } = spawnSync(file, args, {
    cwd: '/',
    env: { PATH: process.env.PATH ?? '' },
    encoding: 'utf8',
    timeout: probeMs,
  })
  if (error === undefined && signal === 'SIGKILL' && stdout === `ok ${process.getuid?.()}\n`)
    return { ok: true, command }
  return { ok: false, why: stderr?.trim() || (error?.message ?? 'the kernel does not allow it') }
}
