import type { ToolCall } from '../pipeline/tool-call.ts'
import { DetachedCall } from './detached-call.ts'

/** A call has read an outcome for its own result, and that result is not part of the conversation yet. */
interface Reading {
  readonly reader: ToolCall
  /** The background call that it has read. */
  readonly id: string
}

/** Which outcomes were read by which calls. An outcome that was read is not delivered by itself. */
export class OutcomeReadings {
  #readings: Reading[] = []

  get isEmpty(): boolean {
    return this.#readings.length === 0
  }

  add(reader: ToolCall, id: string): void {
    this.#readings.push({ reader, id })
  }

  hasOutcome(id: string): boolean {
    return this.#readings.some((each) => each.id === id)
  }

  /** The outcomes that a call has read, if its own result tells them. */
  toldBy(reader: ToolCall): string[] {
    if (!hasTold(reader)) return []
    return this.#readings.filter((each) => each.reader === reader).map(({ id }) => id)
  }

  /** A reader goes to the background: what it has read stays read. */
  passOn(from: ToolCall, to: ToolCall): void {
    this.#readings = this.#readings.map((each) => (each.reader === from ? { ...each, reader: to } : each))
  }

  /** The turn of these calls counts. Returns what their results tell. */
  takeTurn(isOfTurn: (toolUseID: string) => boolean): string[] {
    const ofTurn = this.#readings.filter(({ reader }) => !reader.isDetached && isOfTurn(reader.id))
    this.#readings = this.#readings.filter((reading) => !ofTurn.includes(reading))
    return ofTurn.filter(({ reader }) => hasTold(reader)).map(({ id }) => id)
  }

  /** False if they have read nothing. */
  forgetReaders(isForgotten: (reader: ToolCall) => boolean): boolean {
    const { length } = this.#readings
    this.#readings = this.#readings.filter(({ reader }) => !isForgotten(reader))
    return this.#readings.length < length
  }

  forgetOutcomes(ids: readonly string[]): void {
    this.#readings = this.#readings.filter(({ id }) => !ids.includes(id))
  }
}

/** The model has the outcome only if the call that read it returned it: as its result, or before it was stopped. */
export const hasTold = ({ ending, outcome, outputUntilStopped }: ToolCall): boolean =>
  ending?.by === 'abort' ? outputUntilStopped !== undefined : ending?.by === 'result' && outcome === undefined

/** Its own result is still to come. */
export const canTell = (reader: ToolCall): boolean =>
  reader instanceof DetachedCall ? reader.isUnderWay : reader.stage === 'executing' && !reader.executor.isDiscarded
