import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fromStreamParts } from '../../src/models/ai-sdk/index.ts'
import { anthropicEvents } from '../../src/models/anthropic/index.ts'
import type { ModelEvent } from '../../src/models/model.ts'
import { fromChatChunks, fromResponsesEvents } from '../../src/models/openai/index.ts'
import { asChatChunks, asMessagesEvents, asResponsesEvents, asStreamParts } from './support/one-reply.ts'
import { collect, readReply } from './support/read-reply.ts'
import { flawsOf } from './support/well-formed.ts'

const runs = process.env.SIGNALBOX_FULL ? 3_000 : 300

const formats: [string, (items: unknown[]) => AsyncIterable<ModelEvent>, readonly object[]][] = [
  ['the Messages API', anthropicEvents, asMessagesEvents],
  ['the Responses API', fromResponsesEvents, asResponsesEvents],
  ['Chat Completions', fromChatChunks, asChatChunks],
  ['the AI SDK', fromStreamParts, asStreamParts],
]

const junk = fc.oneof(
  fc.constantFrom<unknown>(null, undefined, '', 0, -1, 1.5, Number.NaN, true, [], {}, '{', 'parallel', 'toString'),
  fc.anything({ maxDepth: 2 }),
)

/** The item with one of its fields, at any depth, missing or changed. */
const spoilt = (item: unknown): fc.Arbitrary<unknown> => {
  if (typeof item !== 'object' || item === null) return junk
  const keys = Object.keys(item)
  if (keys.length === 0) return junk
  return fc.constantFrom(...keys).chain((key) => {
    const fields = item as Record<string, unknown>
    const { [key]: value, ...rest } = fields
    const gone = Array.isArray(item) ? item.filter((_, at) => String(at) !== key) : rest
    const within = spoilt(value).map((changed) =>
      Array.isArray(item)
        ? item.map((each, at) => (String(at) === key ? changed : each))
        : { ...fields, [key]: changed },
    )
    return fc.oneof(fc.constant(gone), within)
  })
}

/** The stream of a real reply with items lost, repeated, reordered, damaged or invalid. */
const broken = (items: readonly object[]): fc.Arbitrary<unknown[]> =>
  fc.array(
    fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...items) },
      { weight: 3, arbitrary: fc.constantFrom(...items).chain(spoilt) },
      { weight: 1, arbitrary: junk },
    ),
    { maxLength: 40 },
  )

const unreadable = new Proxy(
  { type: 'x' },
  {
    get() {
      throw new Error('no')
    },
  },
)

describe.each(formats)('random streams of a service: %s', (_, translate, items) => {
  it('produce events in a valid order', async () => {
    await fc.assert(
      fc.asyncProperty(broken(items), async (sent) => {
        const events = await collect(translate(sent))
        expect(flawsOf(events)).toEqual([])
        readReply(events)
      }),
      { numRuns: runs },
    )
  })

  it('never turn the service’s own calls into calls to run', async () => {
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray([...items]), async (sent) => {
        const { blocks } = readReply(await collect(translate(sent)))
        const names = blocks.filter(({ type }) => type === 'tool_use').map(({ name }) => name)
        expect(names).not.toContain('web_search')
      }),
      { numRuns: runs },
    )
  })

  it('produce only pings if they contain nothing', async () => {
    const nothing = [null, undefined, 7, 'data', [], {}, { type: 7 }, { type: 'toString' }, unreadable, Symbol('x')]
    expect(await collect(translate(nothing))).toEqual(nothing.map(() => ({ type: 'ping' })))
  })

  it('have the same meaning with junk between the items', async () => {
    const clean = readReply(await collect(translate([...items])))
    const mixed = items.flatMap((item) => [null, item, unreadable, { type: 'unheard.of' }])
    const seen = readReply(await collect(translate(mixed)))
    expect({ ...seen, id: '' }).toEqual({ ...clean, id: '' })
  })
})
