import { foldJournal } from '../durable/fold-journal.ts'
import { openSession } from '../durable/open-session.ts'
import type { QueryMessage } from '../query/query-message.ts'
import type { Session } from '../query/session/session.ts'
import { allowAllTools } from '../tool/permission.ts'
import { checkTranscript } from '../transcripts/index.ts'
import { backgroundsIn, type CrashSetup, outcomeBreaches, resultBreaches } from './crash-invariants.ts'
import { CrashableJournals } from './crashable-journals.ts'
import { CrashingBodies } from './crashing-bodies.ts'
import { heldModel } from './held-model.ts'
import type { Breach } from './invariant.ts'
import type { Moves } from './moves.ts'
import { never, type PlayableWorld } from './playable-world.ts'
import { countedIdsAndTime, plainError } from './repeatable.ts'
import { simulatedClock } from './simulated-clock.ts'

/** A session in a process that may crash at any moment. Another process then opens the session and resumes it. */
export class CrashingConversation implements PlayableWorld {
  readonly setup: CrashSetup
  readonly journals = new CrashableJournals()
  readonly bodies: CrashingBodies
  readonly yielded: QueryMessage[] = []
  readonly breaches: Breach[] = []
  session: Session | undefined
  crashes = 0
  #held = heldModel()
  #replies = 0
  #said = 0
  isAborted = false
  /** The calls that went to the background, in this process or in one that recorded it. */
  #detached = new Set<string>()
  #reply: CrashSetup['replies'][number] | undefined
  readonly #clock = simulatedClock()
  readonly #idsAndTime = countedIdsAndTime(this.#clock)

  constructor(setup: CrashSetup) {
    this.setup = setup
    this.bodies = new CrashingBodies(setup.tools, ({ key, starts, onlyReads }) => {
      const has = (type: string) => this.journals.records.some((each) => each.t === type && keyOf(each) === key)
      if (!onlyReads && !has('call.started')) this.#breach('a start is durable before its body', key)
      if (setup.isAsked === true && !has('permission.answered')) this.#breach('an answer is durable before a body', key)
      const isOpen = backgroundsIn(this).some((each) => each.key === key && each.endedAt < 0)
      if (has('call.completed') && !isOpen) this.#breach('a completed body never runs again', `${key} began again`)
      if (starts > 1 && !onlyReads && setup.mayRunAgain !== true)
        this.#breach('a body with effects begins once', `${key} began ${starts} times`)
    })
    void this.#live().then((session) => session.send('go'))
  }

  get isAtEnd(): boolean {
    return this.session?.status === 'idle' && this.session.result !== undefined
  }

  moves(): Moves {
    const moves: Moves = new Map()
    if (this.session === undefined || this.isAtEnd) return moves
    this.#modelMoves(moves)
    for (const body of this.bodies.running) {
      const end = (state: 'finished' | 'failed', act: () => void) => () => {
        body.state = state
        act()
      }
      moves.set(
        `${body.key} finishes`,
        end('finished', () => body.settle.resolve({ data: `${body.key} done` })),
      )
      if (this.setup.detaches === true && !this.isAborted && !this.#detached.has(body.key))
        moves.set(`${body.key} goes to the background`, () => this.#detach(body.key))
      if (this.setup.failure === true)
        moves.set(
          `${body.key} fails`,
          end('failed', () => body.settle.reject(plainError('broken'))),
        )
    }
    for (const { id, toolUseID } of this.session.questions()) {
      moves.set(`${toolUseID} is allowed`, () => void this.session?.answer(id, { behavior: 'allow' }))
      moves.set(`${toolUseID} is denied`, () => void this.session?.answer(id, { behavior: 'deny', message: 'no' }))
    }
    if (this.setup.aborts === true && !this.isAborted && this.session.status === 'running')
      moves.set('the user aborts', () => {
        this.isAborted = true
        this.session?.abort('escape')
      })
    if (this.crashes < (this.setup.maxCrashes ?? 1)) {
      moves.set('the process crashes', () => this.#crash(false))
      if (this.journals.pending.length > 0)
        moves.set('the process crashes, its log is written', () => this.#crash(true))
    }
    return moves
  }

  fingerprint(): string {
    const { records, pending } = this.journals
    return JSON.stringify([
      this.crashes,
      this.isAborted,
      [...records, ...pending].map((record) => [
        record.t,
        record.reply,
        record.call,
        record.t === 'background.started' || record.id,
      ]),
      pending.length,
      this.session?.status,
      [...this.bodies.byKey.values()].map(({ key, starts, state }) => [key, starts, state]),
      [this.#held.requests.length, this.#said],
      this.session?.questions().length,
      [...this.#detached],
      this.session?.background.list().map(({ id, status }) => [id, status]),
    ])
  }

  judge(): Breach[] {
    const breaches = this.breaches.splice(0)
    const { session } = this
    if (session === undefined || session.status === 'running') return breaches
    const { transcript } = session
    if (!checkTranscript(transcript).ok) breaches.push({ invariant: 'the transcript is valid', problem: 'it is not' })
    const folded = foldJournal([...this.journals.records]).transcript
    if (JSON.stringify(folded) !== JSON.stringify(transcript))
      breaches.push({ invariant: 'the log folds to the transcript', problem: 'it folds to another one' })
    if (this.isAtEnd) breaches.push(...resultBreaches(this), ...outcomeBreaches(this))
    return breaches
  }

  catchUp(): void {
    // nothing is kept beside the log
  }

  rankOf(move: string): number {
    return / finishes$|^the model|allowed$/.test(move) ? 0 : never
  }

  async #live(): Promise<Session> {
    const { without = [], ...options } = this.setup.options?.(this.crashes) ?? {}
    const held = heldModel()
    this.#held = held
    this.#reply = undefined
    const session = await openSession({
      id: 's',
      journals: this.journals,
      owner: `life ${this.crashes}`,
      canUseTool: this.setup.isAsked === true ? () => ({ behavior: 'later' }) : allowAllTools,
      ...options,
      tools: this.bodies.tools.filter(({ name }) => !without.includes(name)),
      model: (request) => {
        this.#replies++
        this.#said = 0
        this.#reply = this.setup.replies[request.messages.filter(({ role }) => role === 'assistant').length] ?? 'done'
        return held.model(request)
      },
      executor: { clock: this.#clock, uuid: this.#idsAndTime.uuid },
    })
    if (this.#held !== held) return session
    this.session = session
    void this.#read(session)
    return session
  }

  async #read(session: Session): Promise<void> {
    for await (const message of session.messages()) if (this.session === session) this.yielded.push(message)
  }

  #crash(isWritten: boolean): void {
    this.crashes++
    this.session = undefined
    this.journals.crash(isWritten)
    this.bodies.crash()
    this.#detached = new Set(backgroundsIn(this).flatMap(({ key, isKnown }) => (isKnown ? key : [])))
    const open = this.journals.openQuestions.join()
    void this.#live().then((session) => {
      const again = this.journals.openQuestions
        .filter((id) => session.questions().some((each) => each.id === id))
        .join()
      if (open !== again) this.#breach('every question is open again under its id', `${open} became ${again}`)
      session.resume()
    })
  }

  #detach(key: string): void {
    this.#detached.add(key)
    const isTaken = this.session?.detach(key.split(' ')[1] as string)
    if (isTaken !== true) this.#breach('a running call can go to the background', `${key} was refused`)
  }

  #modelMoves(moves: Moves): void {
    if (this.#reply === undefined) return
    const items = typeof this.#reply === 'string' ? [this.#reply] : this.#reply
    const next = items[this.#said]
    const say = (act: () => void) => () => {
      if (this.#said++ === 0) this.#held.start(`msg_${this.#replies}`)
      act()
    }
    if (typeof next === 'string')
      moves.set(
        `the model says ${next}`,
        say(() => this.#held.text(next)),
      )
    else if (next !== undefined) {
      const id = `${'abcdefgh'[this.#said]}`
      moves.set(
        `the model asks for ${next.call}`,
        say(() => this.#held.call(id, next.call, next.input)),
      )
    } else {
      moves.set('the model ends its reply', () => {
        this.#reply = undefined
        this.#held.end(items.some((item) => typeof item !== 'string') ? 'tool_use' : 'end_turn')
      })
    }
  }

  #breach(invariant: string, problem: string): void {
    this.breaches.push({ invariant, problem })
  }
}

const keyOf = ({ reply, call }: { readonly [field: string]: unknown }): string => `${reply} ${call}`
