import type { ProcessExit } from './process-runner.ts'
import { signalOf } from './signal-of.ts'

/**
 * The first process of a namespace, whose end is the end of all others in it. It buries the dead, hands TERM on to
 * everybody, tells how the program ended, and goes when nobody is left. Job control is on for a moment, so that the
 * program has a group of its own and may be interrupted; with it on, bash waits badly. Channel 6 is a pipe for the output:
 * what Node gives is a socket, which nobody can open as /dev/stdout.
 */
export const namespaceInit = `exec 2>&4
{ echo "$((300 + RANDOM % 30000))" >/proc/sys/kernel/ns_last_pid; } 2>/dev/null
trap 'told=yes; kill -TERM -1; kill -CONT -1' TERM
exec 6<> <(:)
echo ready >&4
read -r -u 4 output || exit
[ "$output" != pipe ] || exec >/dev/fd/6
exec 6>&-
set -m
"$@" 2>&1 4>&- &
set +m
while told=; wait $!; code=$?; [ -n "$told" ]; do :; done
echo "ended $code" >&4
while kill -0 -1 2>/dev/null; do read -r -t 0.01 -u 4 || [ $? -gt 128 ] || exit; done`

/** How the program ended, by the last words on the control channel; undefined if there are none yet. */
export function readEnding(said: string): ProcessExit | undefined {
  const ended = /^ended (\d+)$/m.exec(said)
  if (ended === null) return undefined
  const code = Number(ended[1])
  // bash gives 128 and more for a signal too, but then it shows the command that died, except after INT, PIPE and TERM
  const signal = said.includes('"$@"') ? signalOf(code) : undefined
  return { kind: 'exited', code: signal === undefined ? code : null, signal: signal ?? null }
}
