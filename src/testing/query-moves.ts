import { nextDue } from './held-bodies.ts'
import type { HeldConversation } from './held-conversation.ts'
import type { Moves } from './moves.ts'
import { plainError } from './repeatable.ts'

/** The moves possible now. The order is deterministic. */
export function queryMoves(world: HeldConversation): Moves {
  const moves: Moves = new Map()
  const { setup, run, model, bodies, clock, host } = world
  const happenings = { ...allQueryHappenings, ...setup.happenings }
  const { value, status } = run.actor.getSnapshot()
  world.catchUp()
  if (value === 'streaming') {
    const mayFail = happenings.modelTrouble && model.troubles < (setup.maxTroubles ?? 1)
    for (const [name, act] of model.moves(mayFail === true, happenings.modelError === true)) moves.set(name, act)
  }
  for (const body of bodies.byId.values()) {
    if (!body.isRunning) continue
    const end = (act: () => void) => () => {
      world.noteEnd(body.id)
      act()
    }
    moves.set(
      `${body.id} finishes`,
      end(() => body.finish()),
    )
    if (happenings.failure)
      moves.set(
        `${body.id} fails`,
        end(() => body.fail(plainError(`${body.id} broke`))),
      )
    if (happenings.detach && world.canDetach(body.id))
      moves.set(`${body.id} goes to the background`, () => world.detach(body.id))
  }
  if (status === 'active' && world.requestsAtAbort === undefined) {
    if (happenings.interrupt) moves.set('the user interrupts', () => world.interrupt())
    if (happenings.abort) moves.set('the user aborts', () => world.end(() => run.abort('escape')))
    if (happenings.hostAbort) moves.set('the host aborts', () => world.end(() => host.abort('escape')))
    if (happenings.readerLeaves) moves.set('the reader leaves', () => world.leave())
    if (happenings.steer && !world.hasSteered) moves.set('the user says something else', () => world.steer())
    if (happenings.send && !world.hasSent) moves.set('the user adds something', () => world.send())
  } else if (status === 'active' && happenings.abort && world.hasInterrupted) {
    // an abort replaces an interrupt
    moves.set('the user aborts', () => {
      world.hasInterrupted = false
      run.abort('escape')
    })
  }
  const dueIn = nextDue(world)
  if (happenings.time && dueIn !== undefined) moves.set('time passes', () => clock.increment(dueIn))
  return moves
}

/** Every happening and its default. */
export const allQueryHappenings = {
  failure: true,
  modelTrouble: true,
  modelError: true,
  interrupt: true,
  steer: true,
  send: false,
  abort: true,
  detach: false,
  hostAbort: false,
  readerLeaves: true,
  time: true,
}
