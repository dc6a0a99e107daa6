import type { ContentBlock, Message, QueryMessage } from 'signalbox'
import type { Io } from '../io.ts'
import { version } from '../version.ts'
import type { Canvas } from '../view/call-lines.ts'
import { colorsFor } from '../view/colors.ts'
import { liveView } from '../view/live-view.ts'
import { plainView } from '../view/plain-view.ts'
import type { SessionView } from '../view/session-view.ts'
import type { View } from '../view/view.ts'
import type { SessionEnding } from './ending.ts'
import { jsonView } from './json-view.ts'

export type OutputKind = 'auto' | 'json' | 'quiet'

/** A view and its surroundings. */
export interface Output extends View {
  readonly kind: 'live' | 'plain' | 'json' | 'quiet'
  begin(about: { model: string; tools: readonly string[]; prompt?: string; session?: string }): void
  message(message: QueryMessage): void
  /** Messages of the program itself; a view of the session already shows them. */
  note(text: string): void
  finish(ending: SessionEnding, transcript: readonly Message[]): void
}

interface Surroundings {
  readonly io: Io
  readonly now: () => number
  readonly footer: (canvas: Canvas) => readonly string[]
}

const nothing = (): void => undefined

export function openOutput(kind: OutputKind, session: SessionView, { io, now, footer }: Surroundings): Output {
  const write = (text: string): void => void io.stdout.write(text)
  const colors = colorsFor(io.stdout, io.env)
  if (kind === 'json') {
    const view = jsonView(session, write)
    return {
      ...view,
      kind,
      begin: (about) => view.line({ type: 'begin', version, ...about }),
      note: (text) => view.line({ type: 'note', text }),
      finish: ({ words: _, ...ending }) => {
        view.end()
        view.line({ type: 'end', ...ending })
      },
    }
  }
  if (kind === 'quiet') {
    return {
      kind,
      changed: nothing,
      end: nothing,
      begin: nothing,
      message: nothing,
      note: (text) => void io.stderr.write(`signalbox: ${text}\n`),
      finish: ({ exitCode, words, session }, transcript) => {
        write(`${lastText(transcript)}\n`)
        if (exitCode !== 0) io.stderr.write(`signalbox: ${words}\n`)
        else if (session !== undefined) io.stderr.write(`signalbox: session ${session}\n`)
      },
    }
  }
  const isLive = io.stdout.isTTY === true && io.env.TERM !== 'dumb'
  const view = isLive ? liveView(session, { out: io.stdout, colors, now, footer }) : plainView(session, write, colors)
  return { ...view, kind: isLive ? 'live' : 'plain', begin: nothing, message: nothing, note: nothing, finish: nothing }
}

/** The last text of the model. */
function lastText(transcript: readonly Message[]): string {
  const last = transcript.findLast((message) => message.type === 'assistant')
  const id = last?.message.id
  return transcript
    .flatMap((message) => (message.type === 'assistant' && message.message.id === id ? message.message.content : []))
    .filter((block: ContentBlock) => block.type === 'text')
    .map(({ text }) => String(text))
    .join('\n')
}
