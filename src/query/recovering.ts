import type { DiscardedCall } from '../executor/calls-so-far.ts'
import { type CallPast, judgeReply, type OpenTurn } from '../journal/open-turn.ts'
import { createSystemMessage } from '../messages/create-messages.ts'
import type { ContentBlock, Message } from '../messages/message.ts'
import type { QueryLoop } from './query-loop.ts'

/** The log has an unfinished turn: decides whether its reply counts, then lets each of its calls continue. */
export function recover(loop: QueryLoop): void {
  const { log, attempt } = loop
  const turn = log?.turn
  if (log === undefined || turn === undefined) return
  const judgement = judgeReply(turn)
  if (judgement === 'discarded') {
    discardTurn(loop, turn)
    loop.adoptBackground()
    return loop.tell({ type: 'turn.recovered', next: 'preparing' })
  }
  loop.adoptBackground()
  loop.isFresh = false
  if (judgement === 'committed') {
    attempt.restore(turn)
    const { isPaused, isPauseTurn } = attempt
    loop.transcript.reopen({ assistants: turn.blocks.map(({ message }) => message), isPaused, isPauseTurn })
    return loop.tell({ type: 'turn.recovered', next: 'deciding' })
  }
  loop.onExecutor?.(loop.executor)
  for (const report of turn.stopped?.reports ?? []) loop.emit(report)
  attempt.recover(turn, judgement === 'cutOff')
  loop.tell({ type: 'turn.recovered', next: 'draining' })
}

/** The host has shown what the log has of the reply, and must remove it. */
function discardTurn(loop: QueryLoop, { reply, blocks, calls }: OpenTurn): void {
  const discarded = [...blocks.map(({ message }) => message), ...[...calls.values()].flatMap(completedOf)]
  const lost = {
    discarded: discarded.map(({ uuid }) => uuid),
    calls: blocks.flatMap(({ message }) => message.message.content).flatMap(callOf(calls)),
  }
  const why = { errorKind: 'stopped', error: 'The session stopped before the reply was complete.' }
  const retry = { subtype: 'model_retry', ...why, delayMs: 0, isFallback: false, ...lost }
  if (blocks.length > 0) loop.report(createSystemMessage(retry, loop.idsAndTime))
  loop.log?.append({ t: 'attempt.discarded', reply, calls: lost.calls, reports: loop.takeReports() })
}

const completedOf = ({ completed = [] }: CallPast): readonly Message[] => completed

/** A call that only reads has no record of its start, so one that was under way counts as not started. */
const callOf =
  (calls: OpenTurn['calls']) =>
  ({ type, id, name }: ContentBlock): DiscardedCall[] => {
    const past = type === 'tool_use' ? calls.get(String(id)) : undefined
    if (past === undefined) return []
    const { completed, hasRun = false } = past
    return [{ id: String(id), name: String(name), started: hasRun, completed: completed !== undefined }]
  }
