import { inputText } from '../api-content.ts'
import { asIndex, asRecord, asText } from '../read-event.ts'
import type { ReplyWriter } from '../reply-writer.ts'
import { callBlocks, newCall, type StreamedCall } from './call-blocks.ts'

interface ChatCall extends StreamedCall {
  /** The length of the text at the last check. */
  looked: number
  isEnded: boolean
  /** Fields outside the API, such as Gemini's signature; they are sent back with the call. */
  readonly extra: Record<string, unknown>
}

/**
 * The calls of a chat reply. Pieces with the same index belong together; if a service sends no index or the same index for
 * all calls, pieces with the same id. Calls end in the order in which they began.
 */
export function chatCalls(writer: ReplyWriter, toolNames: ReadonlySet<string> | undefined) {
  const blocks = callBlocks(writer, toolNames, 'openai_chat')
  const calls: ChatCall[] = []
  const byIndex = new Map<number, ChatCall>()
  const byId = new Map<string, ChatCall>()
  /** The index of the oldest call that has not ended. */
  let head = 0

  /** The call that a piece belongs to; it may have ended already. */
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
  /** Ends complete calls, up to the first incomplete one. */
  const settle = () => {
    for (let call = calls[head]; call !== undefined && isWhole(call); call = calls[head]) end(call)
  }

  /** In the order in which the calls began. */
  const beginAll = () => {
    for (let at = head; at < calls.length; at++) blocks.begin(calls[at] as ChatCall)
  }

  return {
    get count() {
      return calls.length
    },
    settle,
    take(piece: Record<string, unknown>, beforeNew: () => void) {
      const { index: at, id: given, type, function: fn, custom: own, ...extra } = piece
      const custom = asRecord(own)
      // a call of another type is one that the service runs
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
        beginAll()
        call = { ...newCall(id ?? '', name, custom !== undefined), looked: 0, isEnded: false, extra: {} }
        calls.push(call)
      }
      if (index !== undefined) byIndex.set(index, call)
      if (id !== undefined) byId.set(id, call)
      const text = argumentsText(custom === undefined ? body.arguments : body.input)
      if (call.block === undefined) {
        call.id ||= id ?? ''
        // a name may come in pieces: until the arguments begin, nobody knows which tool is meant
        if (name !== call.name) call.name += name
        if (text !== '') beginAll()
      }
      for (const [key, value] of Object.entries(extra)) if (value !== null) call.extra[key] = value
      blocks.append(call, text)
    },
    /** Ends the reply. A call without arguments that was cut off stays open, because its input is unknown. */
    finish(isCut: boolean) {
      for (let call = calls[head]; call !== undefined; call = calls[head]) {
        if (isCut && call.text === '' && call === calls.at(-1)) return
        end(call)
      }
    },
  }
}

/** If a service uses one index for all calls, another id starts a new call; without ids, a name after complete arguments. */
function isPieceOf(call: ChatCall, id: string | undefined, name: string): boolean {
  if (id !== undefined && call.id !== '') return call.id === id
  return name === '' || call.name === '' || !(call.isEnded || isJson(call.text))
}

/** Text is complete when something else begins. Arguments are complete when they are JSON: pieces of two calls may alternate. */
function isWhole(call: ChatCall): boolean {
  if (call.isCustom) return true
  if (call.text.length === call.looked) return false
  call.looked = call.text.length
  return isJson(call.text)
}

/** Text, as in the API; some services send the object itself. */
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
