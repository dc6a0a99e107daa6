import { anything, type TurnView } from './turn-view.ts'

/** Every difference between the executor and the model, as readable lines; empty if they agree. */
export function differences(expected: TurnView, actual: TurnView): string[] {
  const keys = Object.keys(expected) as (keyof TurnView)[]
  return keys.flatMap((key) => difference(key, expected[key], actual[key]))
}

export function difference(what: string, expected: unknown, actual: unknown): string[] {
  const [wanted, came] = [JSON.stringify(expected), JSON.stringify(actual)]
  return wanted === came || expected === anything
    ? []
    : [`${what}: expected ${wanted}`, `${' '.repeat(what.length)}  but was  ${came}`]
}
