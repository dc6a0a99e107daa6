import { type Move, moveInWords } from './moves.ts'
import type { TurnPlan } from './turn-view.ts'

/** A turn and its moves, one line per move. */
export class Story {
  readonly plan: TurnPlan
  readonly moves: readonly Move[]

  constructor(plan: TurnPlan, moves: readonly Move[]) {
    this.plan = plan
    this.moves = moves
  }

  toString(): string {
    return [planInWords(this.plan), ...this.moves.map((move, index) => `${index + 1}. ${moveInWords(move)}`)].join('\n')
  }
}

export const planInWords = ({ maxConcurrency, maxBufferedProgress, hostAsks, abortedBefore }: TurnPlan): string =>
  [
    `limit ${maxConcurrency}`,
    `progress kept ${maxBufferedProgress}`,
    ...(hostAsks ? ['the host is asked'] : []),
    ...(abortedBefore === undefined ? [] : [`the host aborted before: ${abortedBefore}`]),
  ].join(', ')
