// Simulates a fleet that no test machine can hold: orchestrators send calls, one Redis serves every command in order on
// one core, workers run bodies. The costs of Redis are those that `node bench/remote.mjs` measures. A seeded random source
// makes every run the same.
// node bench/scale.mjs [--call-us 170] [--running-us 8] [--rest-us 45] [--seconds 90]
import { parseArgs } from 'node:util'
import { quantile } from './statistics.mjs'

/** How the time of one call in Redis is divided: an estimate, which matters little for the sum. */
const shares = { add: 0.25, take: 0.3, finish: 0.4, events: 0.05 }
const networkMs = 0.25

/** A fleet: who there is, how many calls come per second, and how long a body takes. */
const fleets = [
  { orchestrators: 10, workers: 100, rate: 10, bodyMs: 5_000 },
  { orchestrators: 100, workers: 1_000, rate: 150, bodyMs: 5_000 },
  { orchestrators: 1_000, workers: 10_000, rate: 0, bodyMs: 1_000 },
  { orchestrators: 1_000, workers: 10_000, rate: 150, bodyMs: 30_000 },
  { orchestrators: 1_000, workers: 10_000, rate: 1_000, bodyMs: 5_000 },
  { orchestrators: 1_000, workers: 10_000, rate: 1_800, bodyMs: 5_000 },
  { orchestrators: 1_000, workers: 10_000, rate: 2_600, bodyMs: 2_000 },
  { orchestrators: 1_000, workers: 10_000, rate: 3_400, bodyMs: 1_000 },
]

/** A simulation of events in order of time. Redis is one server with a queue; each command takes its own time there. */
export function simulate({ workers, rate, bodyMs }, { callUs, runningUs, restUs, seconds, seed = 1 }) {
  const random = randomBy(seed)
  const events = new Heap()
  const endMs = seconds * 1_000
  let redisFreeAt = 0
  let redisBusyMs = 0
  let free = workers
  let running = 0
  let mostWaiting = 0
  const waiting = []
  let head = 0
  const overheads = []

  /** Redis answers when all commands before this one are done. */
  const command = (now, us, then) => {
    const at = Math.max(now + networkMs, redisFreeAt)
    redisFreeAt = at + us / 1_000
    if (now < endMs) redisBusyMs += us / 1_000
    events.push(redisFreeAt + networkMs, then)
  }
  const arrive = (now) => {
    if (now >= endMs) return
    events.push(now + (-Math.log(1 - random()) * 1_000) / rate, arrive)
    command(now, callUs * shares.add, (added) => {
      waiting.push(now)
      mostWaiting = Math.max(mostWaiting, waiting.length - head)
      give(added)
    })
  }
  const give = (now) => {
    if (free === 0 || head === waiting.length) return
    const sentAt = waiting[head++]
    free--
    command(now, callUs * shares.take, (taken) => {
      running++
      events.push(taken + bodyMs, (ended) => {
        command(ended, callUs * shares.finish, (finished) => {
          running--
          free++
          give(finished)
          command(finished, callUs * shares.events, (told) => {
            overheads.push(told - sentAt - bodyMs)
          })
        })
      })
    })
  }
  /** Looks of hosts, locks of workers, and what every worker asks for at rest, in slices of ten milliseconds. */
  const keep = (now) => {
    command(now, (running * runningUs + workers * restUs) / 100, () => undefined)
    if (now < endMs) events.push(now + 10, keep)
  }
  if (rate > 0) arrive(0)
  keep(0)
  for (let next = events.pop(); next !== undefined && next.at <= endMs; next = events.pop()) next.then(next.at)
  // the first part fills the fleet
  const settled = overheads.slice(Math.floor(overheads.length / 4))
  return {
    load: redisBusyMs / endMs,
    p50: settled.length === 0 ? Number.NaN : quantile(settled, 0.5),
    p99: settled.length === 0 ? Number.NaN : quantile(settled, 0.99),
    mostWaiting,
  }
}

/** Times and what happens then, earliest first. */
class Heap {
  #items = []

  push(at, then) {
    const items = this.#items
    let place = items.length
    items.push({ at, then })
    while (place > 0) {
      const parent = (place - 1) >> 1
      if (items[parent].at <= at) break
      items[place] = items[parent]
      place = parent
    }
    items[place] = { at, then }
  }

  pop() {
    const items = this.#items
    const first = items[0]
    const last = items.pop()
    if (items.length === 0) return first
    let place = 0
    for (;;) {
      let child = 2 * place + 1
      if (child >= items.length) break
      if (child + 1 < items.length && items[child + 1].at < items[child].at) child++
      if (items[child].at >= last.at) break
      items[place] = items[child]
      place = child
    }
    items[place] = last
    return first
  }
}

function randomBy(seed) {
  let state = seed | 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
    return (state >>> 8) / 2 ** 24
  }
}

if (process.argv[1] === import.meta.filename) {
  const option = (value) => ({ type: 'string', default: value })
  const { values } = parseArgs({
    options: {
      'call-us': option('170'),
      'running-us': option('8'),
      'rest-us': option('45'),
      seconds: option('90'),
    },
  })
  const costs = {
    callUs: Number(values['call-us']),
    runningUs: Number(values['running-us']),
    restUs: Number(values['rest-us']),
    seconds: Number(values.seconds),
  }
  console.log('| orchestrators | workers | calls/s | body | Redis | added to a call, p50 / p99 | most waiting |')
  console.log('|---|---|---|---|---|---|---|')
  for (const fleet of fleets) {
    const { load, p50, p99, mostWaiting } = simulate(fleet, costs)
    const time = (ms) => (ms >= 1_000 ? `${(ms / 1_000).toFixed(1)} s` : `${ms.toFixed(1)} ms`)
    const cells = [
      ...[fleet.orchestrators, fleet.workers, fleet.rate].map((count) => count.toLocaleString('en')),
      `${fleet.bodyMs / 1_000} s`,
      `${Math.round(100 * load)} %`,
      Number.isNaN(p50) ? 'no calls' : `${time(p50)} / ${time(p99)}`,
      mostWaiting.toLocaleString('en'),
    ]
    console.log(`| ${cells.join(' | ')} |`)
  }
}
