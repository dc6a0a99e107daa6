import { describe, expect, it } from 'vitest'
import { allowAllTools } from '../../src/index.ts'
import { type Life, lives, replyWith, said, sayLast, settle, startReply, until } from '../support/durable-lives.ts'
import { heldJournals } from '../support/held-journals.ts'
import { heldTool } from '../support/held-tool.ts'

interface Case {
  readonly options?: Parameters<typeof lives>[1]
  /** Leads to the moment before the message, while records become durable. */
  readonly before?: (life: Life, slow: ReturnType<typeof heldTool>) => Promise<void>
  /** Brings the message. */
  readonly bring: (life: Life, slow: ReturnType<typeof heldTool>) => void
  readonly message: string
}

const sentDuringReply: Case = {
  before: async (life) => {
    life.session.send('go')
    await startReply(life)
  },
  bring: ({ session, held }) => {
    session.send('and this')
    held.text('Done.')
    held.end()
  },
  message: 'user: and this',
}

const cases: { readonly [name: string]: Case } = {
  'a prompt': { bring: ({ session }) => void session.send('the prompt'), message: 'user: the prompt' },
  'a message to a run': sentDuringReply,
  'a message for which no turn is left': {
    ...sentDuringReply,
    options: { maxTurns: 1 },
  },
  'the result of a call': {
    before: async (life) => {
      life.session.send('go')
      await replyWith(life, ['s', 'Slow'])
    },
    bring: (_, slow) => slow.run('s').finish(),
    message: 'user: result s s done',
  },
  'the outcome of a background call': {
    before: async (life) => {
      life.session.send('go')
      await replyWith(life, ['s', 'Slow'])
      life.session.detach('s')
      await sayLast(life)
    },
    bring: (_, slow) => slow.run('s').finish(),
    message: 'user: [Background call bg_1, Slow, has finished. Its result:]\ns done',
  },
  'the note that a person stopped the run': {
    before: async (life) => {
      life.session.send('go')
      await startReply(life)
    },
    bring: ({ session }) => session.abort('stop'),
    message: 'user: [The user stopped this reply.]',
  },
}

async function heldLife({ options, before }: Case) {
  const { store, ...journals } = heldJournals()
  const slow = heldTool('Slow')
  const life = await lives([slow.tool], { ...options, journals: store, canUseTool: allowAllTools }).begin()
  const seen: string[] = []
  /** Shown while a crash would have lost them. */
  const early: string[] = []
  void (async () => {
    for await (const message of life.session.messages()) {
      seen.push(...said([message]))
      if (message.type === 'user' && !journals.has(message.uuid)) early.push(...said([message]))
    }
  })()
  await before?.(life, slow)
  await settle()
  journals.hold()
  return { ...journals, life, slow, seen, early }
}

describe('a message that is not durable', () => {
  it.each(Object.entries(cases))('D5 D10 S9 %s is shown when it is durable', async (_, given) => {
    const { life, slow, seen, early, letGo } = await heldLife(given)
    given.bring(life, slow)
    await settle()
    for (let round = 0; round < 9 && !seen.includes(given.message); round++) await letGo()
    expect(seen).toContain(given.message)
    expect(early).toEqual([])
  })

  it.each(Object.entries(cases))('D10 D19 %s is not shown by an owner that was replaced', async (_, given) => {
    const { life, slow, seen, underWay, fence } = await heldLife(given)
    given.bring(life, slow)
    await settle()
    expect(underWay()).not.toEqual([])
    expect(seen).not.toContain(given.message)
    await fence()
    await life.session.whenIdle()
    expect(life.session.result).toMatchObject({ reason: 'journal_error', error: { code: 'session_fenced' } })
    expect(seen).not.toContain(given.message)
    expect(life.held.requests.length).toBeLessThanOrEqual(2)
  })

  it('D10 an owner that was replaced shows text of the model until its next record tells it so, and nothing after that', async () => {
    const { store, ...journals } = heldJournals()
    const slow = heldTool('Slow')
    const options = { journals: store, includeStreamEvents: true, canUseTool: allowAllTools }
    const life = await lives([slow.tool], options).begin()
    const seen: string[] = []
    void (async () => {
      for await (const message of life.session.messages()) seen.push(message.type)
    })()
    life.session.send('go')
    const { held } = await startReply(life)
    held.call('s', 'Slow')
    held.text('It runs.')
    await until(() => slow.started.length === 1 && seen.at(-1) === 'assistant')
    await settle()
    journals.hold()
    const shown = seen.length
    held.text('Before.')
    await until(() => journals.underWay().length > 0)
    expect(seen.slice(shown)).toContain('assistant')
    await journals.fence()
    const before = seen.length
    // while its body is told to stop
    held.text('After.')
    held.call('t', 'Slow')
    held.end('tool_use')
    await settle()
    slow.run('s').finish()
    await life.session.whenIdle()
    expect(life.session.result).toMatchObject({ reason: 'journal_error', error: { code: 'session_fenced' } })
    expect([seen.slice(before), slow.started]).toEqual([[], ['s']])
  })
})
