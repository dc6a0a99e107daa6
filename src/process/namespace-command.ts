import { spawnSync } from 'node:child_process'
import { findProgram } from './find-program.ts'

/** The commands that put a program into a PID namespace on this machine. */
export interface NamespaceCommand {
  readonly bash: string
  /** Prefix that creates the namespace. */
  readonly enter: readonly string[]
  /** Prefix of the program that drops the capabilities of the namespace's first process. */
  readonly drop: readonly string[]
}

export type NamespaceProbe =
  | { readonly ok: true; readonly command: NamespaceCommand }
  | { readonly ok: false; readonly why: string }

// plays the role of this process: starts a namespace, reads its reply and kills itself; a survivor would hold the output open
const host = `coproc NS { exec "$@"; }; read -r word <&"\${NS[0]}" || exit 1; echo "$word"; kill -KILL $$`
const inside = `set -e
read -r pid rest </proc/self/stat
[ "$pid" = 1 ]
echo "ok $UID"
exec sleep 30`
const probeMs = 10_000

let known: NamespaceProbe | undefined

/** Tests once whether a namespace can be created, whether it is set up correctly, and whether it dies with its host. */
export function probeNamespace(): NamespaceProbe {
  known ??= probe()
  return known
}

function probe(): NamespaceProbe {
  if (process.platform !== 'linux') return { ok: false, why: 'only Linux has PID namespaces' }
  const [bash, setpriv, unshare] = ['bash', 'setpriv', 'unshare'].map((name) => findProgram(name, process.env.PATH))
  if (bash === undefined) return { ok: false, why: 'bash was not found in PATH' }
  if (setpriv === undefined || unshare === undefined)
    return { ok: false, why: 'setpriv or unshare (util-linux) was not found in PATH' }
  // without root this needs a user namespace, in which the user id stays the same
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
