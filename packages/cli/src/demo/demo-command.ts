import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import process from 'node:process'
import { Command } from 'commander'
import { scriptedModel } from 'signalbox/scripted'
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
    .summary('play a demo: a scripted model with the real tools')
    .description(
      'Plays a short demo in a temporary folder: a scripted model finds and fixes a bug with the real tools. The demo needs no API key, changes none of your files, and ends by itself. Questions that you do not answer are answered with yes.',
    )
    .option('--fast', 'play ten times as fast')
    .addHelpText('after', exitCodesHelp)
    .action(async ({ fast }: { fast?: boolean }) => finish(await demo(fast === true, io)))

async function demo(isFast: boolean, io: Io): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-demo-'))
  const root = join(folder, 'shop')
  mkdirSync(root)
  makeWorkspace(root, isFast ? 20 : 450)
  const files = { transcript: join(folder, 'transcript.jsonl'), recording: join(folder, 'recording.jsonl') }
  const { createTools } = await import('@signalbox/tools')
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
    // a user at a terminal may want to replay it
    rmSync(isTerminal && isWhole ? root : folder, { recursive: true, force: true })
  }
}

function whatNext(files: { transcript: string; recording: string }, isTerminal: boolean, io: Io): string {
  const { bold, dim } = colorsFor(io.stdout, io.env)
  const self = ownName()
  const lines = [
    ...(isTerminal
      ? [
          [`${self} replay ${files.recording}`, 'replay this run'],
          [`${self} inspect ${files.recording}`, 'show its statecharts in the browser'],
          [`${self} check ${files.transcript}`, 'check whether the API would accept the conversation'],
        ]
      : []),
    [`${self} run "…"`, 'use a real model; export ANTHROPIC_API_KEY first'],
    [`${self} run --help`, 'show all options'],
  ]
  return `\n${bold('What to try next')}\n${lines.map(([command, what]) => `  ${command}\n    ${dim(`${what}`)}\n`).join('')}`
}

/** The command as the user can type it again. */
function ownName(): string {
  const script = process.argv[1] ?? ''
  if (/[\\/]node_modules[\\/]/.test(script)) return 'npx @signalbox/cli'
  return script.endsWith('.js') ? `node ${relative(process.cwd(), script)}` : 'signalbox'
}
