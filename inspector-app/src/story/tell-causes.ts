import type { Call, Run } from '../model/model.ts'
import { askedWords, duration, ended, inline, sourceWords } from '../words.ts'
import type { Say, Telling } from './narrator.ts'
import { list, name } from './tell-schedule.ts'

const isUnderWay = (stage: Call['stage']): boolean => stage === 'queued' || stage === 'held' || stage === 'executing'

export function tellAborts(run: Run, telling: Telling, say: Say): void {
  for (const { cause, by, layer, reached } of run.aborts.slice(telling.aborts)) {
    const source = by === null ? undefined : run.byId.get(by)
    const who = source === undefined ? 'A call' : name(source)
    const told = reached.flatMap(({ call }) => run.byId.get(call) ?? [])
    if (cause.kind === 'timeout') say('P7', `${who} takes longer than its timeout and is told to stop.`, source)
    else if (layer === 'call') say('A6', `${who} stops the turn.`, source)
    else if (cause.kind === 'sibling_error') say('A2', `${who} failed, and its error cancels its siblings.`, source)
    else if (cause.kind === 'streaming_fallback') say('A5', 'The run is discarded. No more results are handed over.')
    else if (cause.reason === 'interrupt') {
      // the interrupt reaches calls one after the other; each reacts by its tool's behaviour, an open question always ends
      const asking = new Set(run.questions.map(({ call }) => call))
      const stopped = run.calls.filter((call) =>
        isUnderWay(call.stage)
          ? call.stopsAtInterrupt || asking.has(call.id)
          : told.includes(call) && call.ending?.by === 'abort',
      )
      const spared = run.calls.filter((call) => isUnderWay(call.stage) && !stopped.includes(call))
      const stops = stopped.length === 0 ? 'no call has to stop' : `${list(stopped.map(name))} must stop`
      say('A3', `Interrupted: ${stops}${spared.length === 0 ? '' : `; ${list(spared.map(name))} may finish`}.`)
    } else say('A4', 'Aborted: every unfinished call stops.')
  }
  telling.aborts = run.aborts.length
}

export function tellQuestions(run: Run, telling: Telling, say: Say): void {
  for (const { call: id, because } of run.questions) {
    const call = run.byId.get(id)
    if (call === undefined || telling.questions.has(id)) continue
    const why = because === undefined ? '' : `, ${askedWords(because)}`
    say('P6', `${name(call)} asks for permission${why}. It counts as executing until you answer.`, call)
  }
  telling.questions = new Set(run.questions.map(({ call }) => call))
}

/** A question is told when it is open. */
export function tellDecisions(call: Call, say: Say): void {
  const { decision } = call
  if (decision?.behavior === 'allow') say('P5', `${name(call)} is allowed ${sourceWords(decision.source)}.`, call)
  else if (decision?.behavior === 'deny') say('P5', `${name(call)} is denied ${sourceWords(decision.source)}.`, call)
}

export function tellAttempts(call: Call, failures: Call['failures'], say: Say): void {
  for (const { attempt, error, backoffMs } of failures) {
    const problem = inline(error, 120)
    if (backoffMs === null) say('P8', `${name(call)} failed: ${ended(problem)}`, call)
    else
      say(
        'P7',
        `Attempt ${attempt} of ${name(call)} failed: ${ended(problem)} Retried in ${duration(backoffMs)}.`,
        call,
      )
  }
}
