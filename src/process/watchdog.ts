import { type ChildProcess, spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { runMarker } from './marked-processes.ts'

// starts with the groups that run and reads which begin and end; when this process has ended for any reason, kills those groups and all processes with their marks
const script = `live="$*"
while read -r what pid mark; do
  kept=
  for run in $live; do [ "\${run%%:*}" = "$pid" ] || kept="$kept $run"; done
  live=$kept
  [ "$what" = - ] || live="$live $pid:$mark"
done
for run in $live; do kill -s KILL -- "-\${run%%:*}"; done 2>/dev/null
[ -d /proc/self ] || exit 0
for look in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  found=
  for run in $live; do
    for file in $(grep -lszxF -e "${runMarker}=\${run#*:}" /proc/[0-9]*/environ); do
      pid=\${file#/proc/}
      kill -s KILL "\${pid%/environ}" 2>/dev/null && found=yes
    done
  done
  [ -n "$found" ] || exit 0
done`

const idleMs = 1_000
const guarded = new Map<number, string>()
let dog: ChildProcess | undefined
let idle: ReturnType<typeof setTimeout> | undefined

/** A process that outlives this one just long enough to end its remaining groups. */
export const watchdog = {
  guard(pid: number, id: string): void {
    clearTimeout(idle)
    guarded.set(pid, id)
    if (dog === undefined) wake()
    else tell(`+ ${pid} ${id}`)
  },
  letGo(pid: number): void {
    // a second call must not start another timer, which nothing could clear
    if (!guarded.delete(pid)) return
    tell(`- ${pid}`)
    if (guarded.size === 0) idle = setTimeout(() => dog?.stdin?.end(), idleMs).unref()
  },
}

function wake(): void {
  // as arguments: if this process is killed before it can write, the watchdog knows them all the same
  const live = [...guarded].map(([pid, id]) => `${pid}:${id}`)
  const started = spawn('/bin/sh', ['-c', script, 'watchdog', ...live], {
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  dog = started
  started.unref()
  ;(started.stdin as Socket).unref()
  started.stdin?.on('error', () => undefined)
  const isGone = (): void => {
    if (dog !== started) return
    dog = undefined
    // the watchdog was killed: start another one for the groups that still run
    if (started.pid !== undefined && guarded.size > 0) wake()
  }
  started.once('exit', isGone)
  started.once('error', isGone)
}

function tell(line: string): void {
  if (dog?.stdin?.writable) dog.stdin.write(`${line}\n`)
}
