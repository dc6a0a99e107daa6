import { createReadStream } from 'node:fs'
import { Command, Option } from 'commander'
import { type Frame, readFrames } from 'signalbox/inspect'
import { exitCode, exitCodesHelp } from '../exit-code.ts'
import type { Io } from '../io.ts'
import { readNumber } from '../option-values.ts'
import { type Key, openKeyboard } from '../run/keyboard.ts'
import { openOutput } from '../run/open-output.ts'
import type { Finish } from '../run-cli.ts'
import { fileError } from '../usage-error.ts'
import { duration } from '../view/amounts.ts'
import type { Canvas } from '../view/call-lines.ts'
import { cut } from '../view/fit.ts'
import { SessionView } from '../view/session-view.ts'
import { printAgainst } from './against.ts'
import { Playback } from './playback.ts'
import { writePage } from './write-page.ts'

interface ReplayOptions {
  html?: string
  against?: string
  speed?: number
  maxPause: number
}

/** `signalbox replay`: plays a recording in the live view. */
export const replayCommand = (io: Io, finish: Finish): Command =>
  new Command('replay')
    .summary('play a recording in the terminal')
    .description(
      'Plays a recording, such as from signalbox run --record, in the live view. Without a terminal it prints everything at once.',
    )
    .argument('<recording>', 'the file to play (.jsonl)')
    .option('--speed <factor>', '2 is twice as fast, 0 is instant (default: 1 in a terminal, else 0)', readNumber)
    .option('--max-pause <seconds>', 'shorten longer pauses to this', readNumber, 2)
    .addOption(new Option('--against <recording>', 'compare it with another recording, call by call').conflicts('html'))
    .option('--html <page>', 'write it as one HTML file with the inspector inside; opens offline')
    .addHelpText('after', `\nKeys: space pauses and continues, q quits.\n${exitCodesHelp}`)
    .action(async (path: string, options: ReplayOptions) => {
      const { html, against } = options
      if (against !== undefined) finish(await printAgainst(readRecording(path), readRecording(against), io))
      else finish(html === undefined ? await replay(path, options, io) : await writePage(path, html, io))
    })

async function replay(path: string, { speed, maxPause }: ReplayOptions, io: Io): Promise<number> {
  const session = new SessionView()
  const isTerminal = io.stdout.isTTY === true && io.env.TERM !== 'dumb'
  const playback = new Playback(speed ?? (isTerminal ? 1 : 0), maxPause * 1_000)
  let isInterrupted = false
  const stop = (): void => {
    isInterrupted = true
    playback.end()
  }
  const press = ({ name, text, isCtrlC }: Key): void => {
    if (isCtrlC) stop()
    else if (text === 'q') playback.end()
    else if (name === 'space') playback.toggle()
    output.changed()
  }
  const keyboard = isTerminal ? openKeyboard(io, press) : undefined
  const footer = (canvas: Canvas): string[] => (keyboard === undefined ? [] : ['', keyLine(playback, canvas)])
  const output = openOutput('auto', session, { io, now: () => playback.now(), footer })
  const deafen = io.onSignal(stop)
  try {
    for await (const frame of readRecording(path)) {
      await playback.until(frame.at)
      if (playback.isOver) break
      session.take(frame)
      output.changed()
    }
  } finally {
    output.end()
    keyboard?.close()
    deafen()
  }
  return isInterrupted ? exitCode.interrupted : exitCode.done
}

async function* readRecording(path: string): AsyncGenerator<Frame> {
  const file = createReadStream(path)
  await new Promise<void>((resolve, reject) => {
    file.once('readable', resolve).once('end', resolve)
    file.once('error', (error) => reject(fileError(path, error)))
  })
  yield* readFrames(file)
}

function keyLine(playback: Playback, { columns, colors }: Canvas): string {
  const [mark, next] = playback.isPaused ? ['⏸', 'continues'] : ['▶', 'pauses']
  return cut(colors.dim(`${mark} ${duration(playback.now())} · space ${next} · q quits`), columns)
}
