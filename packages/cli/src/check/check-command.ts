import { Command } from 'commander'
import { checkTranscript, repairTranscript, type TranscriptChange } from 'signalbox/transcripts'
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

/** A fault, by line (or index in the array), and what the repair did about it. */
interface Fault {
  readonly line: number
  readonly code: string
  readonly message: string
  readonly toolUseID?: string
  readonly done?: TranscriptChange['done']
}

/** `signalbox check`: whether the Messages API would accept this transcript. */
export const checkCommand = (io: Io, finish: Finish): Command =>
  new Command('check')
    .summary('check a transcript, and repair it')
    .description(
      'Checks whether the Messages API would accept a transcript: every call has a result, every result has a call, and every line can be parsed. Accepts one message per line (.jsonl) or an array of messages (.json), in the format of Signalbox or of the API.',
    )
    .argument('<transcript>', 'the file to check')
    .option('--repair', 'repair it; the original is kept beside it as .bak')
    .option(
      '--output <file>',
      'with --repair: write the repaired transcript to this file, and leave the original unchanged',
    )
    .option('--json', 'print one JSON object instead of text')
    .addHelpText('after', exitCodesHelp)
    .action((path: string, options: CheckOptions, command: Command) => {
      if (options.output !== undefined && options.repair !== true) command.error('error: --output requires --repair')
      finish(check(path, options, io))
    })

function check(path: string, { repair, output, json }: CheckOptions, io: Io): number {
  const file = readTranscript(path)
  const repaired = repair === true ? repairTranscript(file.messages) : undefined
  const faults = faultsOf(file, repaired?.changes)
  // a copy was requested: it is written even if nothing needs repair
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
    lines.push(`${green('✓')} ${faults.length === 0 ? 'Copied' : 'Repaired'}: ${written} is valid.${kept}`)
  } else if (faults.length > 0) lines.push(dim(`To repair it and keep the original: signalbox check ${file} --repair`))
  return `${lines.join('\n')}\n`
}
