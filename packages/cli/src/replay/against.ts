import { type CallTimes, type ComparedCall, compareRuns, type Frame } from 'signalbox/inspect'
import { exitCode } from '../exit-code.ts'
import type { Io } from '../io.ts'
import { duration } from '../view/amounts.ts'
import { cleanText } from '../view/clean-text.ts'

/** `signalbox replay --against`: compares two recordings call by call. */
export async function printAgainst(
  here: AsyncIterable<Frame>,
  there: AsyncIterable<Frame>,
  { stdout }: Pick<Io, 'stdout'>,
): Promise<number> {
  const { a, b, calls, differences } = compareRuns(await all(here), await all(there))
  const sum = differences === 0 ? 'are equal' : 'differ'
  stdout.write(`${differences === 0 ? `All ${calls.length}` : `${differences} of ${calls.length}`} calls ${sum}. `)
  stdout.write(`${length(a.makespanMs)} here, ${length(b.makespanMs)} there.\n`)
  for (const call of calls) stdout.write(`${lineOf(call)}\n`)
  return exitCode.done
}

function lineOf({ a, b, difference }: ComparedCall): string {
  const times = a ?? (b as CallTimes)
  const place = a === undefined ? '-' : String(a.index + 1)
  const way = difference === undefined ? 'equal' : `${difference.what}: ${short(difference.a)} | ${short(difference.b)}`
  return `${place.padStart(4)}  ${short(times.label)}  ${lasts(a)} | ${lasts(b)}  ${way}`
}

/** Text from a recording is untrusted: show one short line of it. */
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
