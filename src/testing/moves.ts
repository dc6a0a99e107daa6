import { nextDue } from './held-bodies.ts'
import { rewrites } from './held-phases.ts'
import type { HeldWorld } from './held-world.ts'
import { plainError } from './repeatable.ts'
import { idOf } from './turn-setup.ts'

/** Everything that can happen next, by the move's name in a story. */
export type Moves = Map<string, () => void>

/** The moves possible now. The order is deterministic. */
export function movesOf(world: HeldWorld): Moves {
  const moves: Moves = new Map()
  const { setup, executor, book, bodies, phases, clock } = world
  const {
    failure,
    progress,
    interrupt,
    abort,
    discard,
    time,
    reader,
    reading,
    flood,
    strange,
    long,
    hostAbort,
    rewrite,
    modifier,
  } = {
    ...allHappenings,
    ...setup.happenings,
  }
  const next = setup.calls[world.arrived]
  if (next !== undefined && book.run !== 'discarded')
    moves.set(`${idOf(next, world.arrived)} arrives`, () => world.arrive())
  for (const { id, isHeld, phase } of book.calls) {
    if (isHeld && phase === 'queued') moves.set(`${id} is released`, () => void executor.release(id))
  }
  for (const { id, phase, words, faults } of phases.waits.values()) {
    for (const [word, say] of Object.entries(words)) {
      const isLate = book.find(id)?.phase !== phase
      const isWanted = word.endsWith(rewrites) ? rewrite !== false : failure || !faults.includes(word)
      if (!isLate && isWanted) {
        moves.set(word, () => {
          if (word.endsWith('stops the turn')) world.wasStoppedByHost = true
          say()
        })
      }
    }
  }
  for (const { name, goOn } of bodies.points) moves.set(name, goOn)
  for (const body of bodies.isReal ? [] : bodies.byId.values()) {
    if (!body.isRunning) continue
    moves.set(`${body.id} finishes`, () => body.finish())
    if (failure) moves.set(`${body.id} fails`, () => body.fail(plainError(`${body.id} broke`)))
    if (strange) moves.set(`${body.id} throws nothing`, () => body.fail(undefined))
    if (long) moves.set(`${body.id} finishes at length`, () => body.finish({ data: `${body.id} done ${padding}` }))
    if (modifier) moves.set(`${body.id} finishes and changes the context`, () => world.finishWithModifier(body))
    if (flood) moves.set(`${body.id} floods`, () => times(25, () => body.report()))
    if (progress && body.reported < world.maxReports) moves.set(`${body.id} reports`, () => body.report())
  }
  const isUnderWay = book.calls.some(({ phase }) => phase !== 'completed' && phase !== 'yielded')
  if (interrupt && isUnderWay && book.run === 'clear')
    moves.set('the user interrupts', () => executor.abort('interrupt'))
  if (abort && isUnderWay && (book.run === 'clear' || book.run === 'interrupted')) {
    moves.set('the user aborts', () => executor.abort('escape'))
    if (hostAbort && !world.host.signal.aborted) moves.set('the host aborts', () => world.host.abort('escape'))
  }
  if (discard && book.calls.length > 0 && book.run !== 'discarded' && !book.isOver) {
    moves.set('the turn is discarded', () => void executor.discard())
  }
  const dueIn = nextDue(world)
  if (time && dueIn !== undefined) moves.set('time passes', () => clock.increment(dueIn))
  readingMoves(world, moves, Number(reader ?? 1), reading)
  return moves
}

function readingMoves(world: HeldWorld, moves: Moves, maxReaders: number, mayTake?: boolean): void {
  const { book, readers } = world
  if (book.run === 'discarded' || book.calls.length === 0) return
  if (readers.length > 0) moves.set('the reader leaves', () => world.leave())
  if (readers.length < maxReaders && !book.isOver) moves.set('a reader comes', () => world.read())
  if (readers.length > 0) return
  const isLast = world.arrived === world.setup.calls.length && book.calls.every(isOverIn)
  if ((mayTake || isLast) && !book.isOver && world.hasNews) moves.set('results are taken', () => world.take())
}

const isOverIn = ({ phase }: { phase: string }): boolean => phase === 'completed' || phase === 'yielded'

const padding = 'and so on '.repeat(100)

const times = (count: number, act: () => void): void => {
  for (let n = 0; n < count; n++) act()
}

/** Every happening and its default. */
export const allHappenings = {
  flood: false,
  strange: false,
  long: false,
  hostAbort: false,
  rewrite: false,
  modifier: false,
  failure: true,
  progress: true,
  interrupt: true,
  abort: true,
  discard: true,
  time: true,
  reader: true,
  reading: true,
}
