import type { SeenCall } from './seen-call.ts'

/** The property by which two calls were matched. */
export type AlignedBy = 'id' | 'input' | 'name' | 'nothing'

export interface CallPair {
  readonly a: SeenCall | undefined
  readonly b: SeenCall | undefined
  readonly by: AlignedBy
}

/** Match keys, from strict to loose. Among equal keys, calls are paired in order. */
const marks: readonly (readonly [AlignedBy, (call: SeenCall) => string])[] = [
  ['id', ({ id, name }) => JSON.stringify([id, name])],
  ['input', ({ name, input }) => JSON.stringify([name, input])],
  ['name', ({ name }) => name],
]

/** Pairs the calls of two runs: in the order of the first run, then the calls that only the second has. */
export function alignCalls(a: readonly SeenCall[], b: readonly SeenCall[]): CallPair[] {
  const pairs = new Map<SeenCall, CallPair>()
  let [restOfA, restOfB] = [a, b]
  for (const [by, markOf] of marks) {
    const waiting = queuesOf(restOfB, markOf)
    const found = new Set<SeenCall>()
    for (const call of restOfA) {
      const other = waiting.get(markOf(call))?.next().value
      if (other === undefined) continue
      pairs.set(call, { a: call, b: other, by })
      found.add(other)
    }
    restOfA = restOfA.filter((call) => !pairs.has(call))
    restOfB = restOfB.filter((call) => !found.has(call))
  }
  return [
    ...a.map((call) => pairs.get(call) ?? { a: call, b: undefined, by: 'nothing' as const }),
    ...restOfB.map((call) => ({ a: undefined, b: call, by: 'nothing' as const })),
  ]
}

function queuesOf(calls: readonly SeenCall[], markOf: (call: SeenCall) => string): Map<string, Iterator<SeenCall>> {
  const lists = new Map<string, SeenCall[]>()
  for (const call of calls) {
    const list = lists.get(markOf(call)) ?? []
    lists.set(markOf(call), list)
    list.push(call)
  }
  return new Map([...lists].map(([mark, list]) => [mark, list.values()]))
}
