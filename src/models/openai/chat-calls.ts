import { inputText } from '../api-content.ts'
import { asIndex, asRecord, asText } from '../read-event.ts'
import type { ReplyWriter } from '../reply-writer.ts'
import { callBlocks, newCall, type StreamedCall } from './call-blocks.ts'

interface ChatCall extends StreamedCall {
  /** How long its text was when it was last looked at. */
  looked: number
  isEnded: boolean
  /** Fields of its pieces that are none of the API's, such as Gemini's signature: they go back with the call. */
  readonly extra: Record<string, unknown>
}

/**
 * The calls of a chat reply. Pieces belong together by index, or, where a service has none or has the same for all,
 * by id. Calls end in the order in which they began.
 */
export function chatCalls(writer: ReplyWriter, toolNames: ReadonlySet<string> | undefined) {
  const blocks = callBlocks(writer, toolNames, 'openai_chat')
  const calls: ChatCall[] = []
  const byIndex = new Map<number, ChatCall>()
  const byId = new Map<string, ChatCall>()
  /** The oldest that has not ended. */
  let head = 0

  /** The call that a piece belongs to; it may have ended. */
  const find = (index: number | undefined, id: string | undefined, name: string): ChatCall | undefined => {
    if (index !== undefined) {
      const same = byIndex.get(index)
      return same !== undefined && isPieceOf(same, id, name) ? same : undefined
    }
    if (id !== undefined) return byId.get(id)
    return name === '' ? calls.at(-1) : undefined
  }

  const end = (call: ChatCall) => {
    call.isEnded = true
    head++
    blocks.finish(call, call.extra)
  }
  /** Ends the calls that are whole, as far as no older one is still under way. */
  const settle = () => {
    for (let call = calls[head]; call !== undefined && isWhole(call); call = calls[head]) end(call)
  }

  return {
    get count() {
      return calls.length
    },
    settle,
    take(piece: Record<string, unknown>, beforeNew: () => void) {
      const { index: at, id: given, type, function: fn, custom: own, ...extra } = piece
      const custom = asRecord(own)
      // a call of another kind than these is one that the service runs
      if (type !== undefined && custom === undefined && asRecord(fn) === undefined && type !== 'function') return
      const body = custom ?? asRecord(fn) ?? {}
      const name = asText(body.name) ?? ''
      const index = asIndex(at)
      const id = asText(given)
      let call = find(index, id, name)
      if (call?.isEnded) return
      if (call === undefined) {
        if (name === '' && id === undefined) return
        beforeNew()
        settle()
        call = { ...newCall(id ?? '', name, custom !== undefined), looked: 0, isEnded: false, extra: {} }
        calls.push(call)
      }
      if (index !== undefined) byIndex.set(index, call)
      if (id !== undefined) byId.set(id, call)
      if (call.block === undefined) {
        call.id ||= id ?? ''
        call.name ||= name
        blocks.begin(call)
      }
      for (const [key, value] of Object.entries(extra)) if (value !== null) call.extra[key] = value
      blocks.append(call, argumentsText(custom === undefined ? body.arguments : body.input))
    },
    /** The reply is over. Of a call that was cut off before its first argument nobody knows what was meant: it stays open. */
    finish(isCut: boolean) {
      for (let call = calls[head]; call !== undefined; call = calls[head]) {
        if (isCut && call.text === '' && call === calls.at(-1)) return
        end(call)
      }
    },
  }
}

/** Services that have one index for all calls are told by another id, or, without ids, by a name after whole arguments. */
function isPieceOf(call: ChatCall, id: string | undefined, name: string): boolean {
  if (id !== undefined && call.id !== '') return call.id === id
  return name === '' || call.name === '' || !(call.isEnded || isJson(call.text))
}

/** Free text is whole when something else begins. Arguments are when they are JSON: pieces of two calls may alternate. */
function isWhole(call: ChatCall): boolean {
  if (call.isCustom) return true
  if (call.text.length === call.looked) return false
  call.looked = call.text.length
  return isJson(call.text)
}

/** Text, as the API has it; some services send the object itself. */
const argumentsText = (given: unknown): string =>
  typeof given === 'object' && given !== null ? inputText(given) : (asText(given) ?? '')

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
