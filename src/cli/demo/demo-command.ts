import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import process from 'node:process'
import { Command } from 'commander'
import { scriptedModel } from '../../scripted/index.ts'
import { exitCodesHelp } from '../exit-code.ts'
import type { Io } from '../io.ts'
import { RecordingFile } from '../run/recording-file.ts'
import { runSession } from '../run/run-session.ts'
import { TranscriptFile } from '../run/transcript-file.ts'
import type { Finish } from '../run-cli.ts'
import { colorsFor } from '../view/colors.ts'
import { prompt, story } from './story.ts'
import { makeWorkspace } from './workspace.ts'

/** `signalbox demo`: a scripted model, the real tools, a temporary workspace, the live view. */
export const demoCommand = (io: Io, finish: Finish): Command =>
  new Command('demo')
    .summary('show it: a scripted model with the real tools')
    .description(
      'Plays a short story in a temporary folder: a scripted model finds and mends a fault with the real tools. It needs no key, changes nothing of yours, and ends by itself; a question that nobody answers is answered with yes.',
    )
    .option('--fast', 'ten times as fast')
    .addHelpText('after', exitCodesHelp)
    .action(async ({ fast }: { fast?: boolean }) => finish(await demo(fast === true, io)))

async function demo(isFast: boolean, io: Io): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-demo-'))
  const root = join(folder, 'shop')
  mkdirSync(root)
  makeWorkspace(root, isFast ? 20 : 450)
  const files = { transcript: join(folder, 'transcript.jsonl'), recording: join(folder, 'recording.jsonl') }
  const { createTools } = await import('../../tools/index.ts')
  const set = createTools({ root })
  const isTerminal = io.stdout.isTTY === true
  let isWhole = false
  try {
    const { exitCode } = await runSession(
      {
        prompt,
        model: scriptedModel(story(isFast ? 0.1 : 1), { pace: isFast ? 1 : 18, chunk: 6 }),
        modelName: 'script',
        tools: set.tools,
        permissions: { mode: 'acceptEdits', allow: ['Bash(sleep *)', 'Bash(wc *)', 'Bash(node check.js)'] },
        output: 'auto',
        transcript: isTerminal ? new TranscriptFile(files.transcript) : undefined,
        recording: isTerminal ? new RecordingFile(files.recording) : undefined,
        yesAfterMs: isFast ? 1_000 : 8_000,
      },
      io,
    )
    isWhole = exitCode === 0
    if (isWhole) io.stdout.write(whatNext(files, isTerminal, io))
    return exitCode
  } finally {
    await set.close()
    // whoever sits there may want to play it again
    rmSync(isTerminal && isWhole ? root : folder, { recursive: true, force: true })
  }
}

function whatNext(files: { transcript: string; recording: string }, isTerminal: boolean, io: Io): string {
  const { bold, dim } = colorsFor(io.stdout, io.env)
  const self = ownName()
  const lines = [
    ...(isTerminal
      ? [
          [`${self} replay ${files.recording}`, 'this again'],
          [`${self} inspect ${files.recording}`, 'its statecharts in the browser'],
          [`${self} check ${files.transcript}`, 'would the API take the conversation?'],
        ]
      : []),
    [`${self} run "…"`, 'a real model: export ANTHROPIC_API_KEY first'],
    [`${self} run --help`, 'everything else'],
  ]
  return `\n${bold('What to try next')}\n${lines.map(([command, what]) => `  ${command}\n    ${dim(`${what}`)}\n`).join('')}`
}

/** As whoever started it can type it again. */
function ownName(): string {
  const script = process.argv[1] ?? ''
  if (/[\\/]node_modules[\\/]/.test(script)) return 'npx signalbox'
  return script.endsWith('.js') ? `node ${relative(process.cwd(), script)}` : 'signalbox'
}
