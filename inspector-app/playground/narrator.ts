import type { Frame } from 'signalbox/inspect'
import { type Call, emptyModel, type Run, type Wait } from '../src/model/model.ts'
import { applyFrame } from '../src/model/reduce.ts'
import { outcomeOf, whyWaiting } from '../src/words.ts'

/** A sentence about what happened, and the code of its rule in the contract. */
export interface Told {
  readonly at: number
  readonly text: string
  readonly rule: string
}

interface Seen {
  stage: Call['stage'] | undefined
  wait: string
}

const name = (call: Call): string => `#${call.index + 1} ${call.label}`

const list = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`

/** Turns frames into sentences. Frames with the same time are grouped. */
export class Narrator {
  readonly told: Told[] = []
  readonly #model = emptyModel()
  readonly #seen = new Map<Call, Seen>()
  #aborts = 0
  #questions = ''
  #run = 0

  take(frames: Iterable<Frame>): void {
    let last: Frame | undefined
    for (const frame of frames) {
      if (last !== undefined && frame.at !== last.at) this.#tell(last.at)
      applyFrame(this.#model, frame)
      last = frame
    }
    if (last !== undefined) this.#tell(last.at)
  }

  #tell(at: number): void {
    const run = this.#model.runs.get(this.#model.latestRun)
    if (run === undefined) return
    const say = (rule: string, text: string): void => void this.told.push({ at, rule, text })
    if (run.id !== this.#run) this.#begin(run, say)
    this.#tellAborts(run, say)
    const changed = run.calls.filter((call) => this.#isNews(call))
    tellEndings(changed, say)
    tellStarts(run, changed, say)
    tellWaits(run, changed, say)
    tellHeld(run, changed, say)
    tellYields(changed, say)
    this.#tellQuestions(run, say)
  }

  #begin(run: Run, say: Say): void {
    if (this.#run > 0) say('L5', 'Another model starts over in a new run.')
    this.#run = run.id
    this.#aborts = 0
    this.#questions = ''
  }

  #isNews(call: Call): boolean {
    const wait = call.wait === undefined ? '' : `${call.wait.because} ${call.wait.blockers.join()}`
    const seen = this.#seen.get(call)
    if (seen?.stage === call.stage && seen.wait === wait) return false
    this.#seen.set(call, { stage: call.stage, wait })
    return true
  }

  #tellAborts(run: Run, say: Say): void {
    for (const { cause, by, layer, reached } of run.aborts.slice(this.#aborts)) {
      const source = by === null ? undefined : run.byId.get(by)
      const told = reached.flatMap(({ call }) => run.byId.get(call) ?? [])
      if (layer === 'call') say('A6', `${source === undefined ? 'A call' : name(source)} stops the turn.`)
      else if (cause.kind === 'sibling_error') {
        say('A2', `${source === undefined ? 'A call' : name(source)} failed, and its error cancels its siblings.`)
      } else if (cause.kind === 'streaming_fallback')
        say('A5', 'The run is discarded. No more results are handed over.')
      else if (cause.reason === 'interrupt') {
        // every call gets the interrupt and reacts by its tool's behaviour; an open question always ends
        const stopped = told.filter(({ stopsAtInterrupt, ending }) => stopsAtInterrupt || ending?.by === 'abort')
        const spared = run.calls.filter((call) => isUnderWay(call.stage) && !stopped.includes(call))
        const stops = stopped.length === 0 ? 'no call has to stop' : `${list(stopped.map(name))} must stop`
        say('A3', `Interrupted: ${stops}${spared.length === 0 ? '' : `; ${list(spared.map(name))} may finish`}.`)
      } else say('A4', 'Aborted: every unfinished call stops.')
    }
    this.#aborts = run.aborts.length
  }

  #tellQuestions(run: Run, say: Say): void {
    const asking = run.questions.map(({ call }) => call)
    for (const id of asking) {
      const call = run.byId.get(id)
      if (call === undefined || this.#questions.includes(`${id},`)) continue
      say('P6', `${name(call)} asks for permission. It counts as executing until you answer.`)
    }
    this.#questions = asking.map((id) => `${id},`).join('')
  }
}

type Say = (rule: string, text: string) => void

const isUnderWay = (stage: Call['stage']): boolean => stage === 'queued' || stage === 'held' || stage === 'executing'

const reachedWords: Readonly<Record<string, string>> = {
  notStarted: 'never starts and gets an error result',
  underWay: 'stops while it runs',
  cutShort: 'reports that it was cut short',
  returned: 'returns after the abort',
  finished: 'finishes despite the abort',
  abandoned: 'does not stop and is abandoned',
}

function tellEndings(changed: readonly Call[], say: Say): void {
  for (const call of changed) {
    if (call.stage !== 'completed' && call.stage !== 'yielded') continue
    if (call.ending?.by !== 'abort') continue
    say('Y6', `${name(call)} ${reachedWords[call.ending.reached ?? ''] ?? 'stops'}.`)
  }
}

function tellStarts(run: Run, changed: readonly Call[], say: Say): void {
  const started = changed.filter(({ stage }) => stage === 'executing')
  for (const call of started) {
    const others = [...run.executing].filter((id) => id !== call.id).flatMap((id) => run.byId.get(id) ?? [])
    if (call.lane === 'exclusive') say('Q4', `${name(call)} starts alone: it is unsafe.`)
    else if (others.length === 0) say('Q4', `${name(call)} starts: nothing else runs.`)
    else say('Q4', `${name(call)} starts beside ${list(others.map(name))}: all are safe.`)
  }
}

/** The rule behind each reason to wait. */
const waitRules: Readonly<Record<string, string>> = {
  held: 'L2',
  exclusiveRunning: 'Q4',
  behindUnsafe: 'Q5',
  waitsForRunning: 'Q4',
  full: 'Q4',
}

function tellWaits(run: Run, changed: readonly Call[], say: Say): void {
  const together = new Map<string, { wait: Wait; calls: Call[] }>()
  for (const call of changed) {
    const { wait } = call
    if (wait === undefined) continue
    const key = `${wait.because} ${wait.blockers.join()}`
    together.set(key, { wait, calls: [...(together.get(key)?.calls ?? []), call] })
  }
  for (const { wait, calls } of together.values()) {
    const rule = Object.hasOwn(waitRules, wait.because) ? waitRules[wait.because] : undefined
    if (rule === undefined) continue
    say(rule, `${list(calls.map(name))}${calls.length === 1 ? '' : ': each'} ${whyWaiting(run, wait)}.`)
  }
}

function tellHeld(run: Run, changed: readonly Call[], say: Say): void {
  const next = run.calls[run.cursor.next]
  for (const call of changed) {
    if (call.stage !== 'completed' || next === undefined || call === next || next.stage === 'completed') continue
    say('Y1', `${name(call)} is finished but held: ${name(next)} comes first.`)
  }
}

function tellYields(changed: readonly Call[], say: Say): void {
  const left = changed.filter(({ stage }) => stage === 'yielded')
  const named = left.map((call) => (outcomeOf(call) === 'ok' ? name(call) : `${name(call)} (an error)`))
  if (left.length === 1) say('Y1', `The result of ${named[0]} is handed over.`)
  else if (left.length > 1) say('Y1', `The results of ${list(named)} are handed over, in order.`)
}
