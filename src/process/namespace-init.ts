import type { ProcessExit } from './process-runner.ts'
import { signalOf } from './signals.ts'

/**
 * The first process of a namespace; when it ends, the kernel ends all others in the namespace. It reaps ended processes,
 * forwards TERM to all of them, reports the exit code of the program, and exits when no process is left. Job control is
 * on only while the program starts, so that the program has its own group and can be interrupted; bash does not wait
 * reliably with job control on. File descriptor 6 is a pipe for the output, because a program cannot open the socket that
 * Node provides as /dev/stdout.
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

/** The exit of the program as reported on the control channel; undefined before that. */
export function readEnding(said: string): ProcessExit | undefined {
  const ended = /^ended (\d+)$/m.exec(said)
  if (ended === null) return undefined
  const code = Number(ended[1])
  // bash reports 128 and more for a signal too, but then prints the command that died, except after INT, PIPE and TERM
  const signal = said.includes('"$@"') ? signalOf(code) : undefined
  return { kind: 'exited', code: signal === undefined ? code : null, signal: signal ?? null }
}
