import { chmodSync, copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { probeNamespace } from '../../../src/process/namespace-command.ts'
import type { Isolation } from '../src/index.ts'
import { scratch } from './bench.ts'

const probe = probeNamespace()
if (!probe.ok) console.warn(`No test in PID namespaces: ${probe.why}`)

/** The kinds of isolation that this machine supports. */
export const isolations: readonly Isolation[] = probe.ok ? ['namespace', 'group'] : ['group']
export const hasNamespaces = probe.ok

/** A program that sleeps, with a unique name. */
export function sleeper(): { nap: string; name: string; folder: string } {
  const name = `sbx${Math.random().toString(36).slice(2, 10)}`
  const folder = scratch()
  chmodSync(folder, 0o755)
  const nap = join(folder, name)
  copyFileSync('/bin/sleep', nap)
  chmodSync(nap, 0o755)
  return { nap, name, folder }
}

/** Commands that leave processes: some are found by group and mark, others only by the kernel. */
export function leavers(nap: string, isolation: Isolation): string[] {
  const found = [
    `${nap} 1000 & ${nap} 1000`,
    `setsid ${nap} 1000 & ${nap} 1000`,
    `trap '' TERM; ${nap} 1000`,
    `(trap '' TERM HUP; exec setsid ${nap} 1000) & exit 0`,
    `(setsid bash -c "${nap} 1000 & ${nap} 1000" &) ; ${nap} 1000`,
    `nohup ${nap} 1000 >/dev/null 2>&1 & echo on`,
    `${nap} 1000 | ${nap} 1000 | ${nap} 1000`,
    `${nap} 1000 & kill -STOP $!; wait`,
    `for i in {1..40}; do (setsid ${nap} 1000 &); done; ${nap} 1000`,
    `storm() { [ $1 = 5 ] && exec ${nap} 1000; storm $(($1 + 1)) & storm $(($1 + 1)) & wait; }; storm 0`,
  ]
  if (isolation === 'group') return found
  const away = '</dev/null >/dev/null 2>&1 3>&-'
  return [
    ...found,
    `env -i setsid ${nap} 1000 ${away} & exit 0`,
    `(env -i setsid bash -c "(${nap} 1000 &) ; ${nap} 1000" ${away} &) ; ${nap} 1000`,
    `(trap '' TERM HUP INT; exec env -i setsid setsid ${nap} 1000 ${away}) & ${nap} 1000`,
    `env -i setsid ${nap} 1000 ${away} & kill -STOP $!; exit 3`,
  ]
}
