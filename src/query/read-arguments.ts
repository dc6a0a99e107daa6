import { describeError } from '../base/describe-error.ts'

const shownChars = 200

export type ReadArguments =
  | { readonly ok: true; readonly input: unknown }
  | { readonly ok: false; readonly problem: string }

/**
 * Parses the streamed arguments of a call, strictly: a repaired text that was cut off could be a different call than the
 * model meant. An empty text means no arguments.
 */
export function readArguments(json: string, given: unknown): ReadArguments {
  if (json.trim() === '') return { ok: true, input: given ?? {} }
  try {
    return { ok: true, input: JSON.parse(json) }
  } catch (error) {
    const end = json.length > shownChars ? `…${json.slice(-shownChars)}` : json
    const problem = `${describeError(error)}. The text ended with: ${end.toWellFormed()}`
    return {
      ok: false,
      problem: `${problem}\nIf it was too long for one reply, send a shorter input, such as in several calls.`,
    }
  }
}
