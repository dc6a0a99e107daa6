import { inputText } from '../api-content.ts'
import { keepData } from '../kept-data.ts'
import { asRecord, asText, isSameJson, lostPieces } from '../read-event.ts'
import type { ReplyWriter } from '../reply-writer.ts'

type Part = Record<string, unknown>

/** A block that arrives in pieces, and the provider's metadata to send back with it. */
interface Standing {
  block?: number
  metadata?: Record<string, unknown>
  isDone: boolean
  /** For a call: its tool, and the pieces of its input so far. */
  name?: string
  input: string
  readonly isCall: boolean
  /** The pieces belong to a call that does not run here, or are not JSON: the whole input comes with the call. */
  readonly isHeld: boolean
}

/** Writes stream parts as blocks. Parts with the same id belong together; text, reasoning and calls may share ids. */
export function partBlocks(writer: ReplyWriter, toolNames: ReadonlySet<string> | undefined) {
  const standing = new Map<string, Standing>()
  /** Calls that the provider runs itself, by id. */
  const ownCalls = new Map<unknown, Part>()
  let calls = 0
  let isApprovalWanted = false

  const at = (kind: string, part: Part, isHeld = false): Standing => {
    const key = `${kind} ${part.id ?? part.toolCallId}`
    const found = standing.get(key) ?? { isDone: false, input: '', isCall: kind === 'call', isHeld }
    standing.set(key, found)
    const metadata = asRecord(part.providerMetadata)
    if (metadata !== undefined) found.metadata = merged(found.metadata, metadata)
    return found
  }
  const close = (each: Standing) => {
    each.isDone = true
    if (each.block === undefined) return
    const signature = each.metadata && keepData('ai_sdk', each.metadata)
    if (signature !== undefined) writer.delta(each.block, { type: 'signature_delta', signature })
    writer.close(each.block)
  }
  const openWords = (kind: string, each: Standing): number => {
    // stored for reasoning even if empty: the adapter recognizes its own blocks by it
    if (kind === 'reasoning') each.metadata ??= {}
    each.block ??= writer.open(
      kind === 'text' ? { type: 'text', text: '' } : { type: 'thinking', thinking: '', signature: '' },
    )
    return each.block
  }
  const openCall = (each: Standing, id: unknown, toolName: unknown): number => {
    const name = asText(toolName) ?? ''
    if (each.block !== undefined && each.name === name) return each.block
    // the call is for another tool than announced: its block never ends, so it never runs
    if (each.block === undefined) calls++
    each.name = name
    each.input = ''
    each.block = writer.open({ type: 'tool_use', id: asText(id) ?? '', name, input: {} })
    return each.block
  }
  const kindOf = ({ type }: Part): string => (String(type).startsWith('text') ? 'text' : 'reasoning')

  return {
    get calls() {
      return calls
    },
    get isApprovalWanted() {
      return isApprovalWanted
    },
    words: {
      start: (part: Part) => void at(kindOf(part), part),
      delta(part: Part) {
        const each = at(kindOf(part), part)
        const text = asText(part.delta)
        if (text === undefined || each.isDone) return
        const block = openWords(kindOf(part), each)
        writer.delta(
          block,
          kindOf(part) === 'text' ? { type: 'text_delta', text } : { type: 'thinking_delta', thinking: text },
        )
      },
      end(part: Part) {
        const kind = kindOf(part)
        const each = at(kind, part)
        if (each.isDone) return
        // reasoning without text may be needed for its signature
        if (kind === 'reasoning' && each.metadata !== undefined) openWords(kind, each)
        close(each)
        // a provider may reuse the id for the next block
        standing.delete(`${kind} ${part.id ?? part.toolCallId}`)
      },
    },
    input: {
      start(part: Part) {
        // a tool that the request does not contain may be the provider's own, even before the provider says so
        const isOurs = toolNames === undefined || toolNames.has(part.toolName as string)
        const isHeld = part.providerExecuted === true || part.inputEncoding === 'text' || !isOurs
        const each = at('call', part, isHeld)
        if (!each.isHeld && !each.isDone) openCall(each, part.id, part.toolName)
      },
      delta(part: Part) {
        const each = at('call', part, true)
        const partial_json = asText(part.delta)
        if (partial_json === undefined || each.block === undefined || each.isDone) return
        each.input += partial_json
        writer.delta(each.block, { type: 'input_json_delta', partial_json })
      },
      end: (part: Part) => void at('call', part, true),
    },
    /** The call is complete; the provider's metadata comes with it. */
    call(part: Part) {
      const each = at('call', part)
      if (each.isDone) return
      const { type, toolCallId, toolName, input, providerExecuted } = part
      if (providerExecuted === true) {
        each.isDone = true
        // the block was opened as a call to run here; it is never closed, so the call never runs
        if (each.block !== undefined) calls--
        const kept = {
          type,
          toolCallId,
          toolName,
          input: parsed(input),
          providerExecuted,
          providerOptions: each.metadata,
        }
        ownCalls.set(toolCallId, part)
        return writer.put({ type: 'ai_sdk_part', part: kept })
      }
      const block = openCall(each, toolCallId, toolName)
      const partial_json = callInput(input)
      const json = (piece: string) => writer.delta(block, { type: 'input_json_delta', partial_json: piece })
      if (each.input === '' && partial_json !== '') json(partial_json)
      // the streamed pieces differ from the final call of the provider: it must not run
      else if (partial_json !== '' && !isSameJson(each.input, partial_json)) json(lostPieces)
      close(each)
    },
    /** A call that the provider runs if it is approved. */
    approval({ type, approvalId, toolCallId }: Part) {
      isApprovalWanted = true
      const { toolName, input } = ownCalls.get(toolCallId) ?? {}
      writer.put({ type: 'ai_sdk_part', part: { type, approvalId, toolCallId, toolName, input } })
    },
    /** The result of a call that the provider ran. */
    result({ toolCallId, toolName, result, isError, preliminary, providerMetadata }: Part) {
      if (preliminary === true) return
      const output = { type: isError === true ? 'error-json' : 'json', value: result ?? null }
      const part = { type: 'tool-result', toolCallId, toolName, output, providerOptions: asRecord(providerMetadata) }
      writer.put({ type: 'ai_sdk_part', part })
    },
    whole({ type, mediaType, data, kind, providerMetadata }: Part) {
      // another model continues: calls of the one that declined do not count
      if (kind === 'anthropic.fallback') calls = 0
      const content = type === 'custom' ? { kind } : { mediaType, data: fileData(data) }
      writer.put({ type: 'ai_sdk_part', part: { type, ...content, providerOptions: asRecord(providerMetadata) } })
    },
    /** Ends the reply. A call without arguments that was cut off stays open, because its input is unknown. */
    finish(isCut: boolean) {
      for (const each of standing.values()) {
        if (each.isDone || each.block === undefined || (isCut && each.isCall && each.input === '')) continue
        close(each)
      }
    },
  }
}

/** Merged by provider; later metadata wins. */
function merged(before: Record<string, unknown> | undefined, after: Record<string, unknown>): Record<string, unknown> {
  const all: Record<string, unknown> = { ...before }
  for (const [provider, fields] of Object.entries(after)) {
    all[provider] = { ...asRecord(all[provider]), ...asRecord(fields) }
  }
  return all
}

/** The text of a custom tool arrives as a JSON string; here it becomes `{ "input": text }`. */
function callInput(input: unknown): string {
  const whole = parsed(input)
  if (typeof input !== 'string') return inputText(input)
  return typeof whole === 'string' && whole !== input ? inputText({ input: whole }) : input
}

/** A prompt contains the input as a value; a stream contains it as text. */
function parsed(input: unknown): unknown {
  try {
    return typeof input === 'string' ? JSON.parse(input) : input
  } catch {
    return input
  }
}

/** Bytes become base64, so that a transcript can be stored as JSON. `data` is plain in v2 and v3, and an object in v4. */
function fileData(data: unknown): unknown {
  if (data instanceof Uint8Array) return base64(data)
  const tagged = asRecord(data)
  return tagged?.data instanceof Uint8Array ? { ...tagged, data: base64(tagged.data) } : data
}

function base64(bytes: Uint8Array): string {
  let text = ''
  // in pieces, because the number of arguments of a call is limited
  for (let at = 0; at < bytes.length; at += 8_192) text += String.fromCharCode(...bytes.subarray(at, at + 8_192))
  return btoa(text)
}
