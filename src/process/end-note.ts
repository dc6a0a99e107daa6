/** Reports the exit code and the working directory of bash when it ends: on file descriptor 3, or at the end of its output. */
export interface EndNote {
  /** Bash runs this before the command. */
  readonly prelude: string
  /** Returns the output without the note; bytes that may be the start of the note are held back. */
  take(bytes: Uint8Array): Uint8Array
  /** Returns the bytes that were held back; called when the output has ended. */
  rest(): Uint8Array
  /** The part of the note that was found in the output; empty if there was none. */
  text(): string
}

const maxNote = 8_192

/**
 * A wrapper such as ssh or `docker exec` passes on only the first three file descriptors. If descriptor 3 is closed, the
 * note follows the output, between two random marks.
 */
export function endNote(id: string): EndNote {
  const mark = Buffer.from(`\x1e${id}\n`)
  let kept: Buffer = Buffer.alloc(0)
  let note: string | undefined
  return {
    prelude: `exec 2>&1
if { : >&3; } 2>/dev/null; then trap '{ { echo "exit $?"; pwd -P; } >&3; } 2>/dev/null' EXIT
else exec {SIGNALBOX_END}>&1; trap '{ printf "\\036${id}\\nexit %s\\n" "$?"; pwd -P; printf "\\036"; } 2>/dev/null >&"$SIGNALBOX_END"' EXIT; fi
`,
    take(bytes) {
      const all = Buffer.concat([kept, bytes])
      if (note === undefined) {
        const at = all.indexOf(mark)
        if (at < 0) {
          const end = all.length - partOf(all, mark)
          kept = all.subarray(end)
          return all.subarray(0, end)
        }
        note = ''
        kept = Buffer.alloc(0)
        return Buffer.concat([all.subarray(0, at), this.take(all.subarray(at + mark.length))])
      }
      kept = Buffer.alloc(0)
      // output of a process that outlives bash
      if (note.endsWith('\x1e') || note.length > maxNote) return all
      const end = all.indexOf(0x1e) + 1
      note += (end > 0 ? all.subarray(0, end) : all).toString('utf8')
      return end > 0 ? all.subarray(end) : Buffer.alloc(0)
    },
    rest() {
      const rest = kept
      kept = Buffer.alloc(0)
      return rest
    },
    text: () => note ?? '',
  }
}

/** The number of bytes at the end that may be the start of the mark. */
function partOf(all: Buffer, mark: Buffer): number {
  for (let length = Math.min(mark.length - 1, all.length); length > 0; length--) {
    if (all.subarray(all.length - length).equals(mark.subarray(0, length))) return length
  }
  return 0
}
