import { judgeReply } from '../../journal/open-turn.ts'
import type { Message } from '../../messages/message.ts'
import type { QueryOptions } from '../options.ts'
import { query } from '../query.ts'
import type { SessionJournal } from './session-journal.ts'
import { newSent, type Sent, SessionRun } from './session-run.ts'

/** With a journal, messages enter the conversation when the run takes them: behind a turn that is still open. */
export function beginRun(
  options: Omit<QueryOptions, 'messages'>,
  sent: readonly Sent[],
  from: SessionJournal | Message[],
): SessionRun {
  if (Array.isArray(from)) return new SessionRun(query({ ...options, messages: from }), sent)
  const waiting = new Set(from.waiting)
  const isWaiting = ({ message }: Sent): boolean => waiting.has(message.uuid)
  const begun = query({ ...options, messages: [...from.transcript], journal: from })
  const run = new SessionRun(
    begun,
    sent.filter((each) => !isWaiting(each)),
  )
  // where no reply goes on, there is nothing to interrupt: the message is part of the first request
  const goesOn = from.turn !== undefined && ['counts', 'cutOff'].includes(judgeReply(from.turn))
  for (const each of sent.filter((each) => isWaiting(each) && !(goesOn && each.isInterrupt))) run.take(each, false)
  return run
}

/** The messages that still wait after a run: those of the log, and before them those that the run left unanswered. */
export function inboxAfter({ sent }: SessionJournal, inbox: readonly Sent[], unanswered: readonly Sent[]): Sent[] {
  const known = [...inbox, ...unanswered]
  const waits = sent.map((message) => known.find((each) => each.message.uuid === message.uuid) ?? newSent(message))
  return [...unanswered.filter((each) => !waits.includes(each)), ...waits]
}
