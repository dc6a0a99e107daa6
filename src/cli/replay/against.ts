import { type CallTimes, type ComparedCall, compareRuns, type Frame } from '../../inspect/index.ts'
import { exitCode } from '../exit-code.ts'
import type { Io } from '../io.ts'
import { cleanText } from '../view/clean-text.ts'
import { duration } from '../view/duration.ts'

/** `signalbox replay --against`: two recordings call by call, and where their ways part. */
export async function printAgainst(
  here: AsyncIterable<Frame>,
  there: AsyncIterable<Frame>,
  { stdout }: Pick<Io, 'stdout'>,
): Promise<number> {
  const { a, b, calls, parted } = compareRuns(await all(here), await all(there))
  const sum = parted === 0 ? 'go the same way' : 'go another way'
  stdout.write(`${parted === 0 ? `All ${calls.length}` : `${parted} of ${calls.length}`} calls ${sum}. `)
  stdout.write(`${length(a.makespanMs)} here, ${length(b.makespanMs)} there.\n`)
  for (const call of calls) stdout.write(`${lineOf(call)}\n`)
  return exitCode.done
}

function lineOf({ a, b, parting }: ComparedCall): string {
  const times = a ?? (b as CallTimes)
  const place = a === undefined ? '-' : String(a.index + 1)
  const way = parting === undefined ? 'same way' : `${parting.what}: ${short(parting.a)} | ${short(parting.b)}`
  return `${place.padStart(4)}  ${short(times.label)}  ${lasts(a)} | ${lasts(b)}  ${way}`
}

/** A recording can say anything: one line of it, and not a long one. */
const short = (text: string): string => cleanText(text).replaceAll('\n', ' ').slice(0, 80)

async function all(frames: AsyncIterable<Frame>): Promise<Frame[]> {
  const list: Frame[] = []
  for await (const frame of frames) list.push(frame)
  return list
}

function lasts(times: CallTimes | undefined): string {
  if (times?.startedAt === undefined) return '-'
  return times.endedAt === undefined ? 'no end' : duration(times.endedAt - times.startedAt)
}

const length = (ms: number | undefined): string => (ms === undefined ? 'No end' : duration(ms))
