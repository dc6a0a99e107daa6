import { describeValue } from '../base/describe-value.ts'
import { isRecord, readField } from '../base/read-field.ts'
import { sendableName } from '../messages/sendable-turns.ts'
import { type Form, markChanged } from './entry.ts'
import { IdMint, isValidId } from './mint-id.ts'
import type { Call } from './pair-calls.ts'
import type { Report } from './transcript-problem.ts'
import { problemTexts } from './transcript-texts.ts'
import { withFields } from './unknown-values.ts'

const badId = 'its id is missing, or has characters other than letters, digits, _ and -'
const maxComparedChars = 1_000_000

/** Gives every call a unique id, a name and an input, and its result the same id. Returns the remaining calls. */
export function mendCalls(calls: readonly Call[], form: Form, report: Report): Call[] {
  const mint = new IdMint(calls.map(({ slot }) => slot.id).filter(isValidId))
  const used = new Set<string>()
  const hasId = (call: Call): boolean => {
    const id = readField(call.slot.block, 'id')
    // our own messages are sent with cleaned ids, plain ones as they are
    return isValidId(id) || (form === 'own' && typeof id === 'string' && id !== '' && canBeRenamed(call))
  }
  return calls.filter((call) => stays(call, form, hasId(call), mint, used, report))
}

/** Whether both blocks can be copied with another id. */
function canBeRenamed({ slot, result }: Call): boolean {
  try {
    return Object.keys({ ...slot.block, ...result?.slot.block }).length > 0
  } catch {
    return false
  }
}

function stays(call: Call, form: Form, hasId: boolean, mint: IdMint, used: Set<string>, report: Report): boolean {
  const { slot, entry } = call
  const flaw = mendFields(call, form) ?? (hasId ? undefined : badId)
  const isReused = hasId && used.has(slot.id)
  if (hasId) used.add(slot.id)
  if (flaw === undefined && !isReused) return true
  const place = { at: entry.at, block: slot.index, toolUseID: slot.id }
  const duplicate = { code: 'duplicate_call_id', ...place, message: problemTexts.duplicateCallId(slot.id) } as const
  if (isReused && isSentTwice(call)) {
    slot.isGone = true
    report({ ...duplicate, done: 'dropped' })
    return false
  }
  const change = {
    done: 'rewritten',
    ...((isReused || !hasId) && { newToolUseID: rename(call, mint.mint(slot.id)) }),
  } as const
  if (isReused) report({ ...duplicate, ...change })
  if (flaw !== undefined) report({ code: 'invalid_call', ...place, message: problemTexts.invalidCall(flaw), ...change })
  return true
}

/** Repairs name and input; returns what was wrong, if anything. */
function mendFields(call: Call, form: Form): string | undefined {
  const { slot, entry } = call
  const name = readField(slot.block, 'name')
  const input = readField(slot.block, 'input')
  const sendable = sendableName(name)
  // our own messages are sent with cleaned names, plain ones as they are
  const hasName = sendable === name || (form === 'own' && canBeRenamed(call))
  if (hasName && isRecord(input)) return undefined
  slot.block = withFields(slot.block, {
    type: 'tool_use',
    name: hasName ? name : sendable,
    input: isRecord(input) ? input : {},
  })
  markChanged(entry)
  return hasName
    ? 'its input is not an object'
    : 'its name is missing, too long, or has characters other than letters, digits, _ and -'
}

/** The same block twice, as after a reconnect, with one result for both. */
function isSentTwice({ slot, twin, result }: Call): boolean {
  if (twin === undefined || result !== undefined) return false
  if (readField(slot.block, 'name') !== readField(twin.slot.block, 'name')) return false
  const input = describeValue(readField(slot.block, 'input'), maxComparedChars)
  // reads no more of the other input than needed for the comparison
  return input.length <= maxComparedChars && input === describeValue(readField(twin.slot.block, 'input'), input.length)
}

function rename({ slot, entry, result }: Call, id: string): string {
  slot.block = withFields(slot.block, { type: 'tool_use', id })
  markChanged(entry)
  if (result !== undefined) {
    result.slot.block = withFields(result.slot.block, { type: 'tool_result', tool_use_id: id })
    markChanged(result.entry)
  }
  return id
}
