import { Command } from 'commander'
import { checkTranscript, repairTranscript, type TranscriptChange } from '../../transcript/index.ts'
import { exitCode, exitCodesHelp } from '../exit-code.ts'
import type { Io } from '../io.ts'
import type { Finish } from '../run-cli.ts'
import { cleanLine } from '../view/clean-text.ts'
import { colorsFor } from '../view/colors.ts'
import { readTranscript, type TranscriptFile } from './read-transcript.ts'
import { writeRepaired } from './write-repaired.ts'

interface CheckOptions {
  repair?: boolean
  output?: string
  json?: boolean
}

/** Something that is wrong, by its line (or its place in the array), and what the repair did about it. */
interface Fault {
  readonly line: number
  readonly code: string
  readonly message: string
  readonly toolUseID?: string
  readonly done?: TranscriptChange['done']
}

/** `signalbox check`: would the Messages API take this transcript? */
export const checkCommand = (io: Io, finish: Finish): Command =>
  new Command('check')
    .summary('check a transcript, and repair it')
    .description(
      'Says whether the Messages API would take a transcript: every call answered, every result with its call, all of it readable. Takes a message per line (.jsonl) or an array of messages (.json), those of Signalbox or of the API.',
    )
    .argument('<transcript>', 'the file to check')
    .option('--repair', 'mend it; the original is kept beside it as .bak')
    .option('--output <file>', 'with --repair: write the mended transcript there, and leave the original alone')
    .option('--json', 'one JSON object in place of sentences')
    .addHelpText('after', exitCodesHelp)
    .action((path: string, options: CheckOptions, command: Command) => {
      if (options.output !== undefined && options.repair !== true) command.error('error: --output goes with --repair')
      finish(check(path, options, io))
    })

function check(path: string, { repair, output, json }: CheckOptions, io: Io): number {
  const file = readTranscript(path)
  const repaired = repair === true ? repairTranscript(file.messages) : undefined
  const faults = faultsOf(file, repaired?.changes)
  // a copy was asked for: it is written even where there is nothing to mend
  const isWritten = repaired !== undefined && (faults.length > 0 || output !== undefined)
  const written = isWritten ? writeRepaired(path, file, repaired.messages, output) : undefined
  const report = { file: path, messages: file.messages.length, ok: faults.length === 0, faults, ...written }
  io.stdout.write(json === true ? `${JSON.stringify(report)}\n` : inWords(report, file, io))
  return report.ok || written !== undefined ? exitCode.done : exitCode.faultsFound
}

function faultsOf({ messages, lines, faults }: TranscriptFile, changes: TranscriptChange[] | undefined): Fault[] {
  const checked = changes === undefined ? checkTranscript(messages) : undefined
  const problems = changes ?? (checked?.ok === false ? checked.problems : [])
  const all: Fault[] = [
    ...faults.map((fault) => (changes === undefined ? fault : { ...fault, done: 'dropped' as const })),
    ...problems.map(({ at, ...problem }) => ({ line: lines[at] ?? 0, ...problem })),
  ]
  return all.sort((one, other) => one.line - other.line)
}

interface Report {
  readonly file: string
  readonly messages: number
  readonly faults: readonly Fault[]
  readonly written?: string
  readonly backup?: string
}

function inWords({ file, messages, faults, written, backup }: Report, { form }: TranscriptFile, io: Io): string {
  const { red, green, dim, yellow } = colorsFor(io.stdout, io.env)
  const place = form === 'array' ? 'message' : 'line'
  const width = Math.max(...faults.map(({ code }) => code.length))
  const lines = faults.map(({ line, code, message, done }) => {
    const what = done === undefined ? '' : ` ${dim('→')} ${yellow(done)}`
    return `${place} ${String(line).padStart(String(messages).length)}  ${red(code.padEnd(width))}  ${cleanLine(message)}${what}`
  })
  const count = `${messages} message${messages === 1 ? '' : 's'}`
  if (faults.length === 0) lines.push(`${green('✓')} ${file} is valid: ${count}.`)
  else lines.push(`${red('✗')} ${file}: ${faults.length} fault${faults.length === 1 ? '' : 's'} in ${count}.`)
  if (written !== undefined) {
    const kept = backup === undefined ? '' : ` The original is ${backup}.`
    lines.push(`${green('✓')} ${faults.length === 0 ? 'Copied' : 'Mended'}: ${written} is valid.${kept}`)
  } else if (faults.length > 0) lines.push(dim(`signalbox check ${file} --repair mends it, and keeps the original.`))
  return `${lines.join('\n')}\n`
}
