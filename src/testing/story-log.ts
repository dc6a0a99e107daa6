import type { HeldWorld } from './held-world.ts'
import { type Breach, breachesInWords } from './invariant.ts'
import { idOf, type TurnSetup } from './turn-setup.ts'

/** The moves and their effects as text. Deterministic. */
export function storyLog(
  run: number,
  { calls, phases, options }: TurnSetup,
  { book, clock }: HeldWorld,
  story: readonly string[],
  breaches: readonly Breach[],
): string {
  return [
    `run ${run}: ${phases}, ${JSON.stringify(options)}`,
    ...calls.map((call, index) => `  ${idOf(call, index)} = ${call.tool}${call.hold === true ? ', held' : ''}`),
    ...story.map((move, index) => `  ${index + 1}. ${move}`),
    ...book.messages.map((message) => `  > ${JSON.stringify(message)}`),
    `  ${book.gate}, ${book.run}, after ${clock.now()} ms`,
    ...(breaches.length > 0 ? [breachesInWords(breaches)] : []),
    '',
  ].join('\n')
}
