import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ApiMessage, ContentBlock, Message } from '../../src/index.ts'
import { toApiMessages } from '../../src/messages/to-api-messages.ts'
import { checkTranscript } from '../../src/transcripts/check-transcript.ts'
import { repairTranscript } from '../../src/transcripts/repair-transcript.ts'
import { rejection } from './api-rules.ts'
import { damaged } from './arbitrary-damage.ts'
import { bring, garbage } from './arbitrary-garbage.ts'
import { ownTranscript, plainTranscript } from './arbitrary-transcript.ts'

const numRuns = process.env.SIGNALBOX_FULL ? 30_000 : 1_000
const assertAll = <Value>(arbitrary: fc.Arbitrary<Value>, holds: (value: Value) => void): void =>
  fc.assert(fc.property(arbitrary, holds), { numRuns, includeErrorInReport: true })

const sameObjects = (some: readonly unknown[], others: readonly unknown[]): boolean =>
  some.length === others.length && some.every((each, index) => each === others[index])

/** All blocks in the order in which they are sent; a string counts as one. */
const blocksOf = (messages: readonly unknown[]): ContentBlock[] =>
  (messages as (ApiMessage | Message)[]).flatMap((message) => {
    const content =
      'message' in message ? (message as { message: ApiMessage }).message.content : (message as ApiMessage).content
    return Array.isArray(content) ? content : []
  })

/** Not discarded by a retry. */
const counts = (messages: readonly unknown[]): ((message: unknown) => boolean) => {
  const discarded = new Set((messages as { discarded?: string[] }[]).flatMap((message) => message.discarded ?? []))
  return (message) => !discarded.has((message as Message).uuid)
}

const frozen = <Value>(value: Value): Value => {
  if (typeof value === 'object' && value !== null) for (const item of Object.values(Object.freeze(value))) frozen(item)
  return value
}

describe('a valid transcript', () => {
  it.each([
    ['plain', plainTranscript],
    ['own', ownTranscript],
  ])('L8 is valid and unchanged: %s', (_form, transcript) => {
    assertAll<unknown[]>(transcript, (messages) => {
      expect(checkTranscript(messages)).toEqual({ ok: true })
      const repaired = repairTranscript(messages)
      expect(repaired.changes).toEqual([])
      expect(sameObjects(repaired.messages, messages)).toBe(true)
    })
  })
})

describe('the check', () => {
  it('L8 agrees with the API about plain messages', () => {
    assertAll(damaged(plainTranscript), (messages) => {
      expect(checkTranscript(messages).ok).toBe(rejection(messages) === undefined)
    })
  })

  it('L8 agrees with the API about own messages as they are sent', () => {
    assertAll(damaged(ownTranscript), (messages) => {
      const checked = checkTranscript(messages)
      // messages that are not sent may leave a valid rest: the check may be stricter
      const isOdd = blocksOf(messages).some(({ type }) => type.includes('_tool_') || type === 'thinking')
      if (isOdd && !checked.ok) return
      expect(checked.ok).toBe(rejection(toApiMessages(messages)) === undefined)
    })
  })

  it('L8 names messages and blocks that exist', () => {
    assertAll<unknown[]>(fc.oneof(damaged<unknown>(plainTranscript), damaged<unknown>(ownTranscript)), (messages) => {
      const checked = checkTranscript(messages)
      for (const problem of checked.ok ? [] : checked.problems) {
        expect(messages[problem.at]).toBeDefined()
        if (!('toolUseID' in problem)) continue
        const block = blocksOf([messages[problem.at]])[problem.block]
        expect([block?.id, block?.tool_use_id]).toContain(problem.toolUseID)
      }
    })
  })
})

describe('the repair', () => {
  it('L8 produces plain messages that the API accepts', () => {
    assertAll(damaged(plainTranscript), (messages) => {
      const repaired = repairTranscript(messages)
      expect(rejection(repaired.messages)).toBeUndefined()
      expect(checkTranscript(repaired.messages)).toEqual({ ok: true })
    })
  })

  it('L8 produces own messages that the API accepts when they are sent', () => {
    assertAll(damaged(ownTranscript), (messages) => {
      const repaired = repairTranscript(messages)
      const sent = toApiMessages(repaired.messages)
      expect(rejection(sent)).toBeUndefined()
      expect(checkTranscript(sent)).toEqual({ ok: true })
      expect(checkTranscript(repaired.messages)).toEqual({ ok: true })
    })
  })

  const either = fc.oneof(damaged<unknown>(plainTranscript), damaged<unknown>(ownTranscript))

  it('L8 does not change its argument, and is deterministic', () => {
    const idsAndTime = { uuid: () => 'new', now: () => 0 }
    assertAll<unknown[]>(either, (messages) => {
      const once = repairTranscript(frozen(messages), idsAndTime)
      expect(repairTranscript(messages, idsAndTime)).toEqual(once)
    })
  })

  it('L8 keeps a result of every call that has one', () => {
    assertAll<unknown[]>(either, (messages) => {
      const given = blocksOf(messages.filter(counts(messages)))
      const called = new Set(given.filter(({ type }) => type === 'tool_use').map(({ id }) => id))
      const kept = new Set(blocksOf(repairTranscript(messages).messages).map(({ content }) => content))
      for (const id of called) {
        const results = given.filter(({ type }) => type === 'tool_result')
        const said = results.filter(({ tool_use_id }) => tool_use_id === id).map(({ content }) => content)
        if (said.length > 0 && !said.includes('')) expect(said.some((content) => kept.has(content))).toBe(true)
      }
    })
  })

  it('L8 keeps the order of everything except results', () => {
    assertAll<unknown[]>(either, (messages) => {
      const places = new Map(blocksOf(messages).map((block, index) => [block, index]))
      const order = blocksOf(repairTranscript(messages).messages)
        .filter(({ type }) => type !== 'tool_result')
        .flatMap((block) => places.get(block) ?? [])
      expect(order).toEqual([...order].sort((one, other) => one - other))
    })
  })

  it('L8 repairs any array, and a second repair changes nothing', () => {
    assertAll(garbage, (given) => {
      const messages = bring(given) as unknown[]
      const { messages: repaired, changes } = repairTranscript(messages)
      expect(checkTranscript(repaired).ok).toBe(true)
      expect(isAccepted(repaired)).toBe(true)
      const again = repairTranscript(repaired)
      expect(again.changes).toEqual([])
      expect(sameObjects(again.messages, repaired)).toBe(true)
      expect(checkTranscript(messages).ok).toBe(changes.length === 0)
    })
  })
})

/** In whichever form these messages are sent. */
const isAccepted = (messages: readonly unknown[]): boolean =>
  messages.every((message) => (message as ApiMessage).role !== undefined)
    ? rejection(messages as ApiMessage[]) === undefined
    : rejection(toApiMessages(messages as Message[])) === undefined
