import { findProgram } from './find-program.ts'

/** What stands before a program: nothing begins before it is let in, nor when this process is gone by then. */
export interface GroupGate {
  readonly command: readonly string[]
  /** It says when it is there, and wants to hear whether channel 6 is read. */
  readonly makesPipe: boolean
}

const plain: GroupGate = {
  command: ['/bin/sh', '-c', 'read -r go <&4 && exec "$@" 4<&-', 'gate'],
  makesPipe: false,
}
const piped = `exec 6<> <(:)
wait $!
echo ready >&4
read -r output <&4 || exit
[ "$output" != pipe ] || exec >/dev/fd/6 2>&1
exec "$@" 4<&- 6<&-`

let withPipe: GroupGate | undefined

/** With a pipe for both channels of output, so that they can be opened by name, where that is wanted and possible. */
export function groupGate(wantsPipe: boolean): GroupGate {
  // elsewhere a socket can be opened by name too
  if (!wantsPipe || process.platform !== 'linux') return plain
  const bash = withPipe === undefined ? findProgram('bash', process.env.PATH) : undefined
  if (bash !== undefined) {
    withPipe = { command: [bash, '--noprofile', '--norc', '-p', '-c', piped, 'gate'], makesPipe: true }
  }
  return withPipe ?? plain
}
