import { readField } from '../../base/read-field.ts'
import { SignalboxError } from '../../base/signalbox-error.ts'
import type { ModelEvent } from '../../models/model.ts'
import type { ScriptItem } from './script.ts'
import { type ScriptedModel, type ScriptedModelOptions, scriptedModel } from './scripted-model.ts'

/**
 * A model that replies as recorded: one JSON event of the Messages API per line, one reply after the other. A line may also
 * be a script item, such as `{"wait":200}`.
 */
export function recordedModel(recording: string | readonly string[], options?: ScriptedModelOptions): ScriptedModel {
  const turns: ScriptItem[][] = []
  const lines = typeof recording === 'string' ? recording.split(/\r?\n/) : recording
  for (const [at, line] of lines.entries()) {
    if (line.trim() === '') continue
    const item = itemOf(line, at + 1)
    const last = turns.at(-1)
    if (last === undefined || hasEnded(last) || (isEvent(item, 'message_start') && hasStarted(last))) turns.push([item])
    else last.push(item)
  }
  // adds nothing to the recording
  return scriptedModel(
    turns.map((items) => [...items, { cut: true }]),
    options,
  )
}

const isEvent = (item: ScriptItem | undefined, type: ModelEvent['type']): boolean =>
  typeof item === 'object' && 'event' in item && item.event.type === type

const hasStarted = (turn: readonly ScriptItem[]): boolean => turn.some((item) => isEvent(item, 'message_start'))

const hasEnded = (turn: readonly ScriptItem[]): boolean => isEvent(turn.at(-1), 'message_stop')

function itemOf(line: string, number: number): ScriptItem {
  try {
    const parsed: unknown = JSON.parse(line)
    if (typeof readField(parsed, 'type') === 'string') return { event: parsed as ModelEvent }
    if (typeof parsed === 'object' && parsed !== null) return parsed as ScriptItem
  } catch {
    // reported below
  }
  throw new SignalboxError(
    'invalid_option',
    `Line ${number} of the recording: expected an event of the Messages API or a script item, received ${line.slice(0, 80)}`,
  )
}
