import { constants } from 'node:os'
import type { ProcessExit } from './process-runner.ts'

/**
 * The first process of a namespace, whose end is the end of all others in it. It buries the dead, hands TERM on to
 * everybody, tells how the program ended, and goes when nobody is left.
 */
export const namespaceInit = `exec 5>&2 2>&4
{ echo "$((300 + RANDOM % 30000))" >/proc/sys/kernel/ns_last_pid; } 2>/dev/null
set -m
trap 'told=yes; kill -TERM -1; kill -CONT -1' TERM
echo ready >&4
read -r -u 4 || exit
"$@" 2>&5 4>&- 5>&- &
while told=; wait -f $!; code=$?; [ -n "$told" ]; do :; done
jobs >&4
echo "ended $code" >&4
while kill -0 -1 2>/dev/null; do read -r -t 0.01 -u 4 || [ $? -gt 128 ] || exit; done`

/** How the program ended, by the last words on the control channel; undefined if there are none yet. */
export function readEnding(said: string): ProcessExit | undefined {
  const ended = /^ended (\d+)$/m.exec(said)
  if (ended === null) return undefined
  const code = Number(ended[1])
  // bash gives 128 and more for a signal too; but of an exit it also says "Exit 137", in whatever language
  const wasSignal = code > 128 && !new RegExp(`\\D${code}\\s`).test(said.slice(0, ended.index))
  if (!wasSignal) return { kind: 'exited', code, signal: null }
  const [signal] = Object.entries(constants.signals).find(([, number]) => number === code - 128) ?? []
  return { kind: 'exited', code: signal === undefined ? code : null, signal: signal ?? null }
}
