import { clearTimer } from '../base/clock.ts'
import { describeError } from '../base/describe-error.ts'
import { readField } from '../base/read-field.ts'
import { whenSettled } from '../base/when-settled.ts'
import type { ToolResultBlock } from '../messages/message.ts'
import { limitSize } from '../results/format-data.ts'
import { type ResultStore, textOf, withPreview } from '../results/long-result.ts'
import { resultTexts } from '../results/result-texts.ts'
import type { ToolCall } from './tool-call.ts'

/** A store that never answers must not block a turn. */
const maxStoreMs = 30_000

/**
 * Saves a result that is too long, and continues with a preview; or, if the store fails or the call is hurried, with a
 * truncated result that says so. Continues exactly once.
 */
export function storeResult(
  call: ToolCall,
  store: ResultStore,
  block: ToolResultBlock,
  maxChars: number,
  goOn: (block: ToolResultBlock) => void,
): void {
  const { clock } = call.executor.settings
  let isDone = false
  let timer: unknown
  const finish = (finished: ToolResultBlock): void => {
    if (isDone) return
    isDone = true
    call.hurryUp = undefined
    clearTimer(clock, timer)
    goOn(finished)
  }
  const cutBecause = (problem: string) => finish(withNote(limitSize(block, maxChars), resultTexts.notStored(problem)))
  const hurry = (): void => cutBecause('the call was stopped before it was')
  call.hurryUp = hurry
  if (call.isHurried) return hurry()
  whenSettled(
    () => {
      timer = clock.setTimeout(() => cutBecause(`the store took longer than ${maxStoreMs / 1_000} s`), maxStoreMs)
      return store.save({ toolUseID: call.id, toolName: call.name, text: textOf(block) })
    },
    (saved) => {
      const path = readField(saved, 'path')
      if (typeof path === 'string' && path !== '') finish(withPreview(block, path, maxChars))
      else cutBecause('the store returned no path')
    },
    (error) => cutBecause(describeError(error)),
  )
}

function withNote(block: ToolResultBlock, note: string): ToolResultBlock {
  if (typeof block.content === 'string') return { ...block, content: `${block.content}\n${note}` }
  return { ...block, content: [...block.content, { type: 'text', text: note }] }
}
