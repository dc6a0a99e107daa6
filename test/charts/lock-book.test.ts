import { describe, expect, it } from 'vitest'
import { LockBook, LockClaim } from '../../machines/index.ts'
import { randomFrom } from '../../src/testing/repeatable.ts'

const runs = process.env.SIGNALBOX_FULL === undefined ? 1_000 : 20_000
const firstSeed = Number(
  process.env.SIGNALBOX_SEED ?? (process.env.SIGNALBOX_FULL === undefined ? 1 : Date.now() % 1e6),
)

interface Keys {
  reads: string[]
  writes: string[]
}

/** One call of the campaign: it wants keys, then runs calls inside of itself, then ends. */
interface Call {
  readonly claim: LockClaim
  readonly keys: Keys
  readonly outer: Call | undefined
  /** The order of arrival. */
  readonly at: number
  /** How many calls it still starts inside of itself. */
  toStart: number
  open: number
  state: 'waiting' | 'holding' | 'refused' | 'over'
}

const everyKey = ['*', 'f:a', 'f:d/', 'f:d/x', 'f:d/y', 'g:z']

/** Written from the rule's text, key by key, without the code of the library. */
const coversKey = (key: string, other: string) =>
  key === '*' || key === other || (key.endsWith('/') && other.slice(0, key.length) === key)
const meet = (one: string, other: string) => coversKey(one, other) || coversKey(other, one)
const clash = (one: Keys, other: Keys) =>
  one.writes.includes('*') ||
  other.writes.includes('*') ||
  one.writes.some((key) => [...other.reads, ...other.writes].some((each) => meet(key, each))) ||
  other.writes.some((key) => one.reads.some((each) => meet(key, each)))
const isInside = (call: Call, other: Call): boolean =>
  call.outer !== undefined && (call.outer === other || isInside(call.outer, other))

/** Not `expect`, which is far slower. */
function must(holds: boolean, rule: string): void {
  if (!holds) throw new Error(rule)
}

/** Random calls, some inside others, until all are over. */
class Campaign {
  readonly calls: Call[] = []
  readonly book = new LockBook()
  readonly #random: () => number
  readonly #isNested: boolean
  refused = 0

  constructor(seed: number) {
    this.#random = randomFrom(seed)
    this.#isNested = this.#random() < 0.5
  }

  play(): void {
    for (let step = 0; step < 60; step++) this.#step(step < 30)
    while (this.#live.length > 0) this.#step(false)
    must(this.book.claims.length === 0, 'the book is empty')
  }

  get #live(): Call[] {
    return this.calls.filter(({ state }) => state === 'waiting' || state === 'holding')
  }

  #pick<Item>(items: readonly Item[]): Item {
    return items[Math.floor(this.#random() * items.length)] as Item
  }

  #step(mayAdd: boolean): void {
    if (mayAdd && this.#random() < 0.4) return this.#add(undefined)
    // those that wait for calls inside of them can do nothing
    const running = this.#live.filter(({ state, toStart, open }) => state === 'holding' && (toStart > 0 || open === 0))
    const waiting = this.#live.filter(({ state }) => state === 'waiting')
    // an abort while it waits, which may never be needed for the others to go on
    if (mayAdd && waiting.length > 0 && this.#random() < 0.1) return this.#end(this.#pick(waiting))
    if (running.length === 0) return must(this.#live.length === 0, 'somebody can go on')
    const call = this.#pick(running)
    if (call.toStart > 0) {
      call.toStart--
      this.#add(call)
    } else this.#end(call)
  }

  #add(outer: Call | undefined): void {
    const reads: string[] = []
    const writes: string[] = []
    // the call of an agent has no keys
    for (let count = Math.floor(this.#random() * 3); count > 0; count--)
      (this.#random() < 0.4 ? reads : writes).push(this.#pick(this.#random() < 0.9 ? everyKey.slice(1) : everyKey))
    const claim = new LockClaim(`c${this.calls.length}`, 'Edit', outer?.claim)
    const toStart = this.#isNested && this.#random() < 0.5 ? 1 + Math.floor(this.#random() * 2) : 0
    const call: Call = {
      claim,
      keys: { reads, writes },
      outer,
      at: this.calls.length,
      toStart,
      open: 0,
      state: 'waiting',
    }
    this.calls.push(call)
    if (outer !== undefined) outer.open++
    this.book.take(claim, call.keys, {
      granted: () => {
        call.state = 'holding'
        this.#check(call)
      },
      refused: () => {
        must(outer !== undefined, 'only calls inside of others are refused')
        this.refused++
        call.state = 'refused'
        if (outer !== undefined) outer.open--
      },
    })
    this.#checkWaiting()
  }

  #end(call: Call): void {
    call.state = 'over'
    if (call.outer !== undefined) call.outer.open--
    this.book.release(call.claim)
    this.#checkWaiting()
  }

  #check(call: Call): void {
    for (const other of this.#live) {
      if (other === call || isInside(call, other)) continue
      if (other.state === 'holding') must(!clash(call.keys, other.keys), 'no two that conflict hold at once')
      // in order of arrival, except inside of others, where that could wait in a circle
      if (!this.#isNested && other.state === 'waiting' && other.at < call.at)
        must(!clash(call.keys, other.keys), 'no later one overtakes')
    }
  }

  /** Nobody waits without a reason. */
  #checkWaiting(): void {
    for (const call of this.#live.filter(({ state }) => state === 'waiting')) {
      const reasons = this.#live.filter(
        (other) =>
          other !== call &&
          !isInside(call, other) &&
          clash(call.keys, other.keys) &&
          (other.state === 'holding' || other.at < call.at),
      )
      const named = this.book.holdersBefore(call.claim)
      must(named.length > 0, `c${call.at} waits for somebody`)
      must(
        named.every((claim) => reasons.some((other) => other.claim === claim)),
        `c${call.at} waits for those that it conflicts with`,
      )
    }
  }
}

describe('the book of shared keys', () => {
  it(`K6 in ${runs} random campaigns no conflict overlaps, nobody overtakes, nobody waits for ever`, () => {
    let refused = 0
    let calls = 0
    for (let run = 0; run < runs; run++) {
      const seed = firstSeed + run
      const campaign = new Campaign(seed)
      try {
        campaign.play()
      } catch (error) {
        throw new Error(`seed ${seed}`, { cause: error })
      }
      refused += campaign.refused
      calls += campaign.calls.length
    }
    // the campaign does reach circles, and they are rare
    expect(refused).toBeGreaterThan(0)
    expect(refused / calls).toBeLessThan(0.05)
  })

  it('K6 K9 10,000 calls that wait for one key, and as many with keys of their own, take linear time', () => {
    const looks = { count: 0 }
    const book = new LockBook()
    const granted: string[] = []
    const claims = Array.from({ length: 10_000 }, (_, at) => {
      const claim = new LockClaim(`c${at}`, 'Edit', undefined)
      const keys = {
        reads: [],
        get writes() {
          looks.count++
          return at % 2 === 0 ? ['f:hot'] : [`f:${at}`]
        },
      }
      book.take(claim, keys, { granted: () => void granted.push(claim.id), refused: () => undefined })
      return claim
    })
    expect(granted).toHaveLength(5_001)
    for (const claim of claims) book.release(claim)
    expect(granted).toHaveLength(10_000)
    expect(book.claims).toEqual([])
    // the keys are read when a call arrives, and never for another one
    expect(looks.count).toBe(10_000)
  })
})
