import { type CallRecord, explainAdmission, type RunRecord } from '../../machines/index.ts'
import { describeCall } from '../../src/tool/describe-call.ts'

export interface Scene {
  readonly run: RunRecord
  readonly gate: string
  readonly state: string
  readonly said: string
  readonly results: ReadonlyMap<string, { text: string; isError: boolean }>
  readonly progress: ReadonlyMap<string, number>
  readonly inputs: ReadonlyMap<string, unknown>
  /** The model has said all it has to say. */
  readonly isSilent: boolean
  readonly isOver: boolean
}

export type Paint = (style: 'dim' | 'bold' | 'green' | 'red' | 'yellow' | 'cyan', text: string) => string

/** The whole picture as lines: what the model says, the queue, the two lanes, and the results in order. */
export function drawScene(scene: Scene, paint: Paint, width: number): string[] {
  const { run } = scene
  const at = (stage: CallRecord['stage']) => run.calls.filter((call) => call.stage === stage)
  const waiting = run.calls.filter(({ stage }) => stage === 'queued' || stage === 'held')
  const executing = at('executing')
  const over = scene.isOver ? paint('dim', '  the turn is over') : ''
  const caret = scene.isSilent ? '' : paint('dim', ' ▌')
  return [
    clip(
      `${paint('bold', 'signalbox')}  gate ${paint('cyan', scene.gate)}  run ${paint('cyan', scene.state)}${over}`,
      width,
    ),
    clip(`${paint('dim', 'model'.padEnd(labelWidth))}${scene.said}${caret}`, width),
    '',
    ...section(
      'queue',
      waiting.flatMap((call) => waitingLines(scene, call, paint, width - labelWidth)),
      paint,
      width,
    ),
    ...section(
      'shared',
      executing.filter((call) => call.isSafe).map((call) => runningLine(scene, call, paint)),
      paint,
      width,
    ),
    ...section(
      'exclusive',
      executing.filter((call) => !call.isSafe).map((call) => runningLine(scene, call, paint)),
      paint,
      width,
    ),
    ...section('results', resultLines(scene, paint), paint, width),
  ]
}

const labelWidth = 11

function section(label: string, lines: readonly string[], paint: Paint, width: number): string[] {
  const shown = lines.length === 0 ? [paint('dim', '·')] : lines
  return shown.map((line, index) => {
    const margin = (index === 0 ? label : '').padEnd(labelWidth)
    return `${paint('dim', margin)}${clip(line, width - labelWidth)}`
  })
}

export const nameOf = (scene: Scene, { id, name }: CallRecord): string =>
  describeCall(undefined, name, scene.inputs.get(id))

/** The call and why it waits, on two lines where one is too narrow. */
function waitingLines(scene: Scene, call: CallRecord, paint: Paint, width: number): string[] {
  const [name, reason] = [nameOf(scene, call), whyWaiting(scene, call)]
  if (reason === '') return [name]
  if (name.length + 2 + reason.length <= width) return [`${name}  ${paint('yellow', reason)}`]
  return [name, `  ${paint('yellow', reason)}`]
}

export function whyWaiting(scene: Scene, call: CallRecord): string {
  const admission = explainAdmission(call, scene.run)
  if (admission.ok) return ''
  const names = admission.blockers.map((id) => {
    const blocker = scene.run.calls.find((each) => each.id === id)
    return blocker === undefined ? id : nameOf(scene, blocker)
  })
  return reasons[admission.because](names.join(', '))
}

const reasons = {
  held: () => 'held until released',
  exclusiveRunning: (names: string) => `waits: ${names} runs alone`,
  behindUnsafe: (names: string) => `waits behind ${names}`,
  waitsForRunning: (names: string) => `wants the line to itself, waits for ${names}`,
  full: (names: string) => `waits for a free place beside ${names}`,
} as const

function runningLine(scene: Scene, call: CallRecord, paint: Paint): string {
  const done = Math.round((scene.progress.get(call.id) ?? 0) * 12)
  const bar = paint('cyan', '█'.repeat(done)) + paint('dim', '░'.repeat(12 - done))
  return `${bar} ${nameOf(scene, call)}  ${paint('dim', phaseOf(call))}`
}

function phaseOf(call: CallRecord): string {
  const value: unknown = call.ref?.getSnapshot().value
  return typeof value === 'object' && value !== null ? String(Object.values(value)[0]) : String(value)
}

/** In the order of the calls: what was handed over, and what is finished but held because an earlier call is not. */
function resultLines(scene: Scene, paint: Paint): string[] {
  return scene.run.calls.flatMap((call, index) => {
    const number = `${index + 1}`.padStart(2)
    const result = scene.results.get(call.id)
    if (result !== undefined) {
      const mark = result.isError ? paint('red', '✗') : paint('green', '✓')
      return [`${number} ${mark} ${nameOf(scene, call)}  ${paint('dim', firstLine(result.text))}`]
    }
    if (scene.state === 'discarded') {
      return [
        `${number} ${paint('dim', '·')} ${nameOf(scene, call)}  ${paint('dim', call.hasStarted ? 'discarded, had started' : 'discarded, never started')}`,
      ]
    }
    if (call.stage !== 'completed') return []
    return [`${number} ${paint('yellow', '▪')} ${nameOf(scene, call)}  ${paint('yellow', 'finished, held for order')}`]
  })
}

const firstLine = (text: string): string => (text.split('\n', 1)[0] ?? '').replace(/<\/?tool_use_error>/g, '')

/** Cuts to the width of the terminal, and shows that it did; escape sequences take no room. */
export function clip(line: string, width: number): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what colours are made of
  const parts = Array.from(line.matchAll(/\x1b\[\d+m|./gsu), ([part]) => part)
  const isColour = (part: string) => part.startsWith('\x1b')
  const length = parts.filter((part) => !isColour(part)).length
  if (length <= width) return line
  let room = Math.max(1, width) - 1
  let isCut = false
  return parts
    .map((part) => {
      if (isColour(part) || room-- > 0) return part
      if (isCut) return ''
      isCut = true
      return '…'
    })
    .join('')
}
