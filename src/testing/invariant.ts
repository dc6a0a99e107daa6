import type { TurnEvidence } from './turn-evidence.ts'

/** A condition that must hold in every turn. */
export interface Invariant {
  readonly name: string
  /** Needs a live watch; a recording does not contain the facts. @default false */
  readonly isLiveOnly?: boolean | undefined
  /** Returns what is wrong as a sentence, or undefined. */
  check(turn: TurnEvidence): string | undefined
}

export interface Breach {
  readonly invariant: string
  readonly problem: string
}

/** All breaches. A check that throws counts as a breach. */
export function breachesOf<Evidence>(
  turn: Evidence,
  invariants: readonly { readonly name: string; check(evidence: Evidence): string | undefined }[],
): Breach[] {
  return invariants.flatMap(({ name, check }) => {
    try {
      const problem = check(turn)
      return problem === undefined ? [] : [{ invariant: name, problem }]
    } catch (error) {
      return [{ invariant: name, problem: `the check threw: ${String(error)}` }]
    }
  })
}

export const breachesInWords = (breaches: readonly Breach[]): string =>
  breaches.map(({ invariant, problem }) => `${invariant}: ${problem}`).join('\n')

/** The first problem among the items. */
export const firstOf = <Item>(
  items: readonly Item[],
  problemOf: (item: Item) => string | undefined,
): string | undefined => {
  for (const item of items) {
    const problem = problemOf(item)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** The ids of calls, as text. */
export const list = (calls: readonly { readonly id: string }[]): string => calls.map(({ id }) => id).join(', ')

export const storyLines = (story: readonly string[]): string[] =>
  story.map((move, index) => `${String(index + 1).padStart(2)}. ${move}`)
