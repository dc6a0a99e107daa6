import { type Keeper, keepData } from '../kept-data.ts'
import type { ReplyWriter } from '../reply-writer.ts'
import { isParallelWrapper, unwrapParallel } from './unwrap-parallel.ts'

/** A call that arrives in pieces. */
export interface StreamedCall {
  id: string
  name: string
  /** A custom tool's input is text; here it becomes `{ "input": text }`. */
  readonly isCustom: boolean
  text: string
  /** The index of its block, once the block is open. */
  block?: number
}

export const newCall = (id: string, name: string, isCustom: boolean): StreamedCall => ({ id, name, isCustom, text: '' })

/** Writes calls as blocks. A block opens when the name is known; a wrapper is written only when it is complete. */
export function callBlocks(writer: ReplyWriter, toolNames: ReadonlySet<string> | undefined, keeper: Keeper) {
  const isWrapper = ({ name, isCustom }: StreamedCall) => !isCustom && isParallelWrapper(name, toolNames)

  const json = (call: StreamedCall, partial_json: string) => {
    if (call.block !== undefined && partial_json !== '') {
      writer.delta(call.block, { type: 'input_json_delta', partial_json })
    }
  }
  const piece = (call: StreamedCall, text: string) =>
    json(call, call.isCustom ? JSON.stringify(text).slice(1, -1) : text)

  const open = (call: StreamedCall) => {
    call.block = writer.open({ type: 'tool_use', id: call.id, name: call.name, input: {} })
    if (call.isCustom) json(call, '{"input":"')
    piece(call, call.text)
  }

  return {
    /** Opens the block if that is possible before the call is complete. */
    begin(call: StreamedCall) {
      if (call.block === undefined && call.name !== '' && !isWrapper(call)) open(call)
    },
    append(call: StreamedCall, text: string) {
      call.text += text
      piece(call, text)
    },
    /** The call is complete. `kept` is the data that the service needs back with it. */
    finish(call: StreamedCall, kept?: Record<string, unknown>) {
      const inner = call.block === undefined && isWrapper(call) ? unwrapped(call) : undefined
      if (inner !== undefined) {
        for (const each of inner) {
          open(each)
          writer.close(each.block as number)
        }
        return
      }
      if (call.block === undefined) open(call)
      if (call.isCustom) json(call, '"}')
      const signature = kept && Object.keys(kept).length > 0 ? keepData(keeper, kept) : undefined
      const index = call.block as number
      if (signature !== undefined) writer.delta(index, { type: 'signature_delta', signature })
      writer.close(index)
    },
  }

  function unwrapped(call: StreamedCall): StreamedCall[] | undefined {
    const inner = unwrapParallel({ id: call.id, arguments: call.text }, toolNames)
    return inner?.map(({ id, name, arguments: text }) => ({ ...newCall(id, name, false), text }))
  }
}
