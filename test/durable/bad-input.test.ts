import { type JournalRecord, memoryJournals, openSession, postAnswer, storedQuestions } from 'signalbox/durable'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type AnyTool, allowAllTools, createSession, defineTool, type PermissionAnswer } from '../../src/index.ts'
import { fileJournals, journalsOn } from '../../src/node/file-journals/file-journals.ts'
import { scriptedModel } from '../../src/query/scripted/index.ts'
import { SimulatedDisk, simulatedProcess } from '../node/file-journals/simulated-disk.ts'
import { type Life, lives, replyWith, sayLast, settle, until } from '../support/durable-lives.ts'
import { heldModel } from '../support/held-model.ts'

/** Pays for ever. `schema` is that of one version of the program. */
function payTool(schema: z.ZodObject, started: string[]): AnyTool {
  return defineTool({
    name: 'Pay',
    inputSchema: schema,
    recover: () => 'again',
    call: (_input, { toolUseID }) => {
      started.push(toolUseID)
      return new Promise<never>(() => undefined)
    },
  }) as AnyTool
}

const before = z.object({})
const now = z.object({ account: z.string() })

describe('options that are missing', () => {
  it.each<[string, () => unknown, string]>([
    ['createSession', () => createSession(undefined as never), 'options: expected an object, received undefined.'],
    ['openSession', () => openSession(null as never), 'options: expected an object, received null.'],
    ['fileJournals', () => fileJournals(undefined as never), 'options: expected an object with folder'],
    ['fileJournals of a path', () => fileJournals('sessions' as never), 'received "sessions".'],
    ['storedQuestions', () => storedQuestions(undefined as never, 's'), 'journals: expected a journal store'],
    ['postAnswer', () => postAnswer({} as never, 's', {} as never), 'journals: expected a journal store'],
  ])('S1 %s names them', async (_, call, problem) => {
    await expect(async () => call()).rejects.toThrow(problem)
  })
})

describe('a session whose tool has another schema now', () => {
  it('D6 D11 an answered call is checked again: it does not run, and its result says why', async () => {
    const started: string[] = []
    const world = lives([payTool(before, started)], { canUseTool: () => ({ behavior: 'later' }) })
    const first = await world.begin()
    first.session.send('pay')
    await replyWith(first, ['p', 'Pay'])
    await until(() => first.session.status === 'suspended')
    const second = await world.begin({ tools: [payTool(now, started)] })
    await second.session.answer(second.session.questions()[0]?.id as string, { behavior: 'allow' })
    second.session.resume()
    await sayLast(second)
    await second.session.whenIdle()
    expect(started).toEqual([])
    expect(JSON.stringify(second.session.transcript)).toContain('account')
    expect(second.session.result?.reason).toBe('completed')
  })

  it('D11 D12 a call that had started is an unknown outcome, even if the tool would run again', async () => {
    const started: string[] = []
    const world = lives([payTool(before, started)], { canUseTool: allowAllTools })
    const first = await world.begin()
    first.session.send('pay')
    await replyWith(first, ['p', 'Pay'])
    await until(() => started.length === 1)
    await settle()
    const second = await world.begin({ tools: [payTool(now, started)] })
    second.session.resume()
    await sayLast(second)
    await second.session.whenIdle()
    expect(started).toEqual(['p'])
    expect(JSON.stringify(second.session.transcript)).toContain('It may or may not have taken effect')
  })
})

describe('a session on a read-only disk', () => {
  it('D19 is a clear error, and nothing is written', async () => {
    const disk = new SimulatedDisk()
    disk.fault = () => 'EROFS'
    const journals = journalsOn(disk, simulatedProcess(new Set()), { folder: '/journals' })
    const opening = openSession({ id: 's', journals, tools: [], model: heldModel().model })
    await expect(opening).rejects.toMatchObject({ code: 'journal_error', message: expect.stringContaining('EROFS') })
    expect(disk.names.size).toBe(0)
  })
})

const paid = defineTool({
  name: 'Pay',
  inputSchema: z.object({}),
  matchesRule: () => true,
  call: async () => ({ data: 'paid' }),
}) as AnyTool

async function asking(begin: () => Promise<Life>): Promise<Life & { question: string }> {
  const life = await begin()
  life.session.send('pay')
  await replyWith(life, ['p', 'Pay'])
  await until(() => life.session.questions().length > 0)
  return Object.assign(life, { question: life.session.questions()[0]?.id as string })
}

const startOf = (field: string): RegExp => new RegExp(`^${field.replace('[', '\\[')}: `)

describe('an answer or a message as a browser may send it', () => {
  it.each([
    [null, 'answer.behavior'],
    [5, 'answer.behavior'],
    [{ behavior: 'later' }, 'answer.behavior'],
    [{ behavior: 'deny', message: 5 }, 'answer.message'],
    [{ behavior: 'allow', updatedInput: 5 }, 'answer.updatedInput'],
    [{ behavior: 'allow', addRules: 5 }, 'answer.addRules'],
    [{ behavior: 'allow', addRules: { allow: [5] } }, 'answer.addRules.allow[0]'],
    [{ behavior: 'allow', addRules: { allow: 'Pay' } }, 'answer.addRules.allow'],
    [{ behavior: 'allow', addRules: ['Pay'] }, 'answer.addRules'],
    [{ behavior: 'allow', addRules: { alow: ['Pay'] } }, 'answer.addRules'],
  ])('D6 D16 %j is refused with its field, and the question stays open', async (answer, field) => {
    const world = lives([paid])
    const durable = await asking(() => world.begin())
    const held = heldModel()
    const plain = await asking(async () => ({ session: createSession({ tools: [paid], model: held.model }), held }))
    const refusal = expect.objectContaining({ message: expect.stringMatching(startOf(field)) })
    const given = answer as PermissionAnswer
    const { question } = durable
    await expect(world.journals.post('s', { type: 'answer', question, answer: given })).rejects.toEqual(refusal)
    await expect(durable.session.answer(question, given)).rejects.toEqual(refusal)
    await expect(plain.session.answer(plain.question, given)).rejects.toEqual(refusal)
    for (const life of [durable, plain]) {
      expect(await life.session.answer(life.question, { behavior: 'allow' })).toBe('accepted')
      await sayLast(life)
      await life.session.whenIdle()
      expect(life.session.result?.reason).toBe('completed')
    }
  })

  it.each([
    5,
    null,
    {},
    [5],
  ])('D6a a posted message %j is refused, and the owner does not hear of it', async (content) => {
    const world = lives([paid])
    await world.begin()
    const posted = world.journals.post('s', { type: 'message', uuid: 'm', content })
    await expect(posted).rejects.toMatchObject({ code: 'invalid_option' })
    expect(await world.journals.post('s', { type: 'message', uuid: 'm', content: 'hello' })).toBe('accepted')
  })
})

describe('an option that openSession does not have', () => {
  it('is refused with the options that it has, and nothing is written', async () => {
    const world = lives([paid])
    await expect(world.begin({ contextkeys: [] } as never)).rejects.toThrow(
      /Unknown option contextkeys\. Known options: id, journals, owner, mode, contextKeys, messages, /,
    )
    await expect(world.records()).rejects.toMatchObject({ code: 'session_not_found' })
  })
})

describe('rules that came with an answer', () => {
  it('D14 a rule that cannot be used is not recorded: the session can be resumed', async () => {
    const world = lives([paid], {
      canUseTool: () => ({ behavior: 'allow', addRules: { allow: ['pay'], deny: ['Other'] } }),
    })
    const first = await world.begin()
    first.session.send('pay')
    await replyWith(first, ['p', 'Pay'])
    await world.written('turn.committed')
    expect(JSON.stringify(await world.records())).not.toContain('addRules')
    const second = await world.begin()
    second.session.resume()
    await sayLast(second)
    await second.session.whenIdle()
    expect(second.session.result?.reason).toBe('completed')
  })

  it('D14 D11 what today’s tool does not understand is asked again, and the session goes on', async () => {
    const world = lives([paid], { canUseTool: () => ({ behavior: 'later' }) })
    const { session, question } = await asking(() => world.begin())
    await session.close()
    const answer = { behavior: 'allow', addRules: { allow: ['Pay(small)'], deny: ['Other'] } } as const
    expect(await world.journals.post('s', { type: 'answer', question, answer })).toBe('accepted')
    const { matchesRule: _, ...plain } = paid
    const second = await world.begin({ tools: [plain as AnyTool] })
    second.session.resume()
    await replyWith(second, ['again', 'Pay'])
    await until(() => second.session.status === 'suspended')
    expect(second.session.questions().map(({ toolUseID }) => toolUseID)).toEqual(['again'])
    expect(second.session.context.permissions).toEqual({ allow: [], ask: [], deny: ['Other'] })
  })
})

describe('a run that cannot begin', () => {
  it('S2 D19 ends with its error and is not begun again by itself; the message is kept', async () => {
    let isBroken = false
    const tools = () => {
      if (isBroken) throw new Error('no tools today')
      return [paid]
    }
    const world = lives([], { tools })
    const { session, held } = await world.begin()
    isBroken = true
    session.send('pay')
    expect([session.status, session.result]).toMatchObject(['suspended', { error: { message: 'no tools today' } }])
    await settle()
    isBroken = false
    session.resume()
    await sayLast({ session, held })
    await session.whenIdle()
    expect([session.status, session.transcript.length]).toEqual(['idle', 2])
  })
})

describe('a log that somebody edited', () => {
  it('D9 D22 each record without a field, or with another value: a clear error or a run that ends', async () => {
    const world = lives([paid])
    const life = await asking(() => world.begin())
    const { session } = life
    await session.answer(life.question, { behavior: 'allow', addRules: { deny: ['Other'] } })
    await sayLast(life)
    session.send('again')
    await replyWith(life, ['q', 'Pay'])
    await until(() => session.status === 'suspended')
    const records = (await world.records()) as unknown as JournalRecord[]
    const byType = new Map(records.map((record) => [record.t, record]))
    byType.delete('session.opened')
    const told = new Map<string, number>()
    for (const record of byType.values()) {
      const fields = Object.keys(record).filter((field) => !['n', 'at', 't', 'optional', 'v', 'id'].includes(field))
      for (const field of fields)
        for (const value of [undefined, 5, 'x', [5], {}]) {
          const edited = records.map((each) => (each === record ? { ...record, [field]: value } : each))
          const outcome = await resumed(edited)
          told.set(outcome, (told.get(outcome) ?? 0) + 1)
        }
    }
    expect([...told.keys()].sort()).toEqual(['completed', 'journal_corrupt'])
    expect(told.get('journal_corrupt')).toBeGreaterThan(40)
  })

  /** How a session with these records goes on. */
  async function resumed([created, , ...records]: JournalRecord[]): Promise<string> {
    const journals = memoryJournals()
    const journal = await journals.open('s', { owner: 'editor', mode: 'create', created: { ...created } })
    for (const record of records) journal.append(record)
    await journal.close()
    let requests = 0
    const options = { id: 's', journals, tools: [paid], canUseTool: allowAllTools }
    try {
      const session = await openSession({
        ...options,
        model: (request) => {
          if (++requests > 5) throw new Error('it asks the model again and again')
          return scriptedModel(['Done.'])(request)
        },
      })
      session.resume()
      await session.whenIdle()
      const { result } = session
      await session.close()
      return result?.reason ?? 'nothing'
    } catch (error) {
      return String((error as { code?: unknown }).code ?? error)
    }
  }
})
