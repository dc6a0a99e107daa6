import { findProgram } from './find-program.ts'

/** A small script that runs before the program: it waits for a message, and exits if this process has ended. */
export interface GroupGate {
  readonly command: readonly string[]
  /** The script reports when it is ready, then waits to be told whether file descriptor 6 is read. */
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

/** The gate that opens a pipe for both output channels, so that a program can open them by name, if wanted and possible. */
export function groupGate(wantsPipe: boolean): GroupGate {
  // on other platforms a program can open a socket by name
  if (!wantsPipe || process.platform !== 'linux') return plain
  const bash = withPipe === undefined ? findProgram('bash', process.env.PATH) : undefined
  if (bash !== undefined) {
    withPipe = { command: [bash, '--noprofile', '--norc', '-p', '-c', piped, 'gate'], makesPipe: true }
  }
  return withPipe ?? plain
}
