import type { TurnEvidence } from './turn-evidence.ts'

/** Something that must hold of every turn. */
export interface Invariant {
  readonly name: string
  /** Only a live watch can tell: a recording shows nothing of it. @default false */
  readonly isLiveOnly?: boolean | undefined
  /** What is wrong, in a sentence; nothing where all is well. */
  check(turn: TurnEvidence): string | undefined
}

export interface Breach {
  readonly invariant: string
  readonly problem: string
}

/** All that does not hold. A check that throws does not hold either. */
export function breachesOf<Evidence>(
  turn: Evidence,
  invariants: readonly { readonly name: string; check(evidence: Evidence): string | undefined }[],
): Breach[] {
  return invariants.flatMap(({ name, check }) => {
    try {
      const problem = check(turn)
      return problem === undefined ? [] : [{ invariant: name, problem }]
    } catch (error) {
      return [{ invariant: name, problem: `its check threw: ${String(error)}` }]
    }
  })
}

export const breachesInWords = (breaches: readonly Breach[]): string =>
  breaches.map(({ invariant, problem }) => `${invariant}: ${problem}`).join('\n')
