import { type CallPort, type CallRecord, callChart, type ResourceKeys, type RunPort } from '../../machines/index.ts'
import { tableEngine } from '../../src/chart-engine/table-engine.ts'

export interface ScriptedCallOptions {
  readonly id: string
  readonly isSafe?: boolean
  readonly keys?: ResourceKeys
  readonly isHeld?: boolean
  readonly isAnswered?: boolean
  readonly isRecorded?: boolean
  readonly needsRecovery?: boolean
  readonly needsLocking?: boolean
  readonly needsJournaling?: boolean
  /** Until the log has answered. */
  readonly needsRecording?: () => boolean
  readonly needsValidation?: boolean
  readonly needsPreHooks?: boolean
  readonly needsDeciding?: boolean
  readonly mayBeForbidden?: boolean
  readonly needsAsking?: boolean
  readonly canDetach?: boolean
  readonly needsPostHooks?: boolean
  readonly hasPlace?: () => boolean
  readonly mustQueueAgain?: () => boolean
  readonly yieldsToInterrupt?: boolean
  readonly unread?: number
  /** Its body may be sent to a worker. */
  readonly runsElsewhere?: boolean
}

/** A call whose port only records the requests of the chart. */
export function scriptedCall(options: ScriptedCallOptions): CallRecord & { readonly asked: string[] } {
  const asked: string[] = []
  const note = (what: string) => () => void asked.push(what)
  const port: CallPort & { unread: number } = {
    isAnswered: options.isAnswered ?? false,
    isRecorded: options.isRecorded ?? false,
    needsRecovery: options.needsRecovery ?? false,
    needsLocking: options.needsLocking ?? false,
    needsJournaling: options.needsJournaling ?? false,
    get needsRecording() {
      return options.needsRecording?.() ?? false
    },
    get isDurable() {
      return !this.needsRecording
    },
    needsValidation: options.needsValidation ?? false,
    needsPreHooks: options.needsPreHooks ?? false,
    needsDeciding: options.needsDeciding ?? false,
    mayBeForbidden: options.mayBeForbidden ?? false,
    needsAsking: options.needsAsking ?? false,
    canDetach: options.canDetach ?? false,
    needsPostHooks: options.needsPostHooks ?? false,
    get hasPlace() {
      return options.hasPlace?.() ?? true
    },
    mustQueueAgain: () => options.mustQueueAgain?.() ?? true,
    unread: options.unread ?? 1,
    recover: note('recover'),
    takeLocks: note('takeLocks'),
    journalStart: note('journalStart'),
    recordResult: note('recordResult'),
    validate: note('validate'),
    runPreHooks: note('runPreHooks'),
    decide: note('decide'),
    askHost: note('askHost'),
    awaitAnswer: note('awaitAnswer'),
    callTool: note('callTool'),
    startBackoff: note('startBackoff'),
    runPostHooks: note('runPostHooks'),
    formatResult: note('formatResult'),
    hurry: note('hurry'),
    stop: ({ kind }) => void asked.push(`stop ${kind}`),
    startGrace: note('startGrace'),
    abandon: note('abandon'),
    detach: note('detach'),
    conclude: (ending) => void asked.push(`conclude ${ending.by}`),
  }
  return {
    id: options.id,
    name: 'Tool',
    yieldsToInterrupt: options.yieldsToInterrupt ?? false,
    port,
    isSafe: options.isSafe ?? false,
    keys: options.keys,
    index: -1,
    stage: options.isHeld === true ? 'held' : 'queued',
    hasStarted: false,
    get hasBegun() {
      return asked.includes('callTool')
    },
    ref: undefined,
    asked,
  }
}

export interface ScriptedRunPort extends RunPort {
  readonly handed: string[]
  readonly settled: string[]
  readonly begun: string[]
}

export function scriptedRunPort(): ScriptedRunPort {
  const handed: string[] = []
  const settled: string[] = []
  const begun: string[] = []
  const nothing = () => undefined
  return {
    handed,
    settled,
    begun,
    createCall: (call, executor) => tableEngine.createChild(callChart(), executor, 'call', { call, executor }),
    received: nothing,
    started: ({ id }) => void begun.push(id),
    requeued: nothing,
    completed: nothing,
    yielded: nothing,
    discarded: nothing,
    completedInOrder: ({ id }) => void settled.push(id),
    handOver: ({ id, port }) => {
      ;(port as { unread: number }).unread--
      handed.push(id)
    },
  }
}
