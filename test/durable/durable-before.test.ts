import { describe, expect, it } from 'vitest'
import { allowAllTools } from '../../src/index.ts'
import { lives, readAll, replyWith, sayLast, settle, startReply } from '../support/durable-lives.ts'
import { heldJournals } from '../support/held-journals.ts'
import { heldTool } from '../support/held-tool.ts'

describe('what is durable before what', () => {
  it('S9 the message is durable before the model is asked', async () => {
    const { store, ...journals } = heldJournals()
    const { session, held } = await lives([], { journals: store }).begin()
    journals.hold()
    session.send('go')
    await settle()
    expect([journals.underWay(), held.requests.length]).toEqual([[['message.sent']], 0])
    await journals.letGo()
    expect(held.requests).toHaveLength(1)
  })

  it('S9 a message for a run that is busy is committed at once', async () => {
    const { store, ...journals } = heldJournals({ lingerMs: 2 ** 31 - 1 })
    const life = await lives([], { journals: store }).begin()
    life.session.send('go')
    await startReply(life)
    life.session.send('and this')
    await settle()
    expect(journals.has('and this')).toBe(true)
  })

  it('D4 the start of a call with effects is durable before its body begins; a read-only body needs no record', async () => {
    const { store, ...journals } = heldJournals()
    const [write, read] = [heldTool('Write'), heldTool('Read', { safe: true, isReadOnly: () => true })]
    const life = await lives([write.tool, read.tool], { journals: store, canUseTool: allowAllTools }).begin()
    life.session.send('go')
    await startReply(life)
    journals.hold()
    life.held.call('r', 'Read')
    await settle()
    expect([read.started, journals.underWay().flat()]).toEqual([['r'], expect.not.arrayContaining(['call.started'])])
    read.run('r').finish()
    await settle()
    await journals.letGo()
    life.held.call('w', 'Write')
    life.held.end('tool_use')
    await settle()
    expect(write.started).toEqual([])
    await journals.letGo()
    await journals.letGo()
    expect(write.started).toEqual(['w'])
  })

  it('D5 a result is durable before it is yielded', async () => {
    const { store, ...journals } = heldJournals()
    const write = heldTool('Write')
    const life = await lives([write.tool], { journals: store, canUseTool: allowAllTools }).begin()
    const seen: string[] = []
    void (async () => {
      for await (const message of life.session.send('go')) seen.push(JSON.stringify(message))
    })()
    await replyWith(life, ['w', 'Write'])
    journals.hold()
    write.run('w').finish()
    await settle()
    expect(journals.underWay().flat()).toContain('call.completed')
    expect(seen.join()).not.toContain('w done')
    await journals.letGo()
    expect(seen.join()).toContain('w done')
  })

  it('D5 D14 a context change is durable before the result that comes with it is yielded', async () => {
    const { store, ...journals } = heldJournals()
    const move = heldTool('Move')
    const options = { journals: store, canUseTool: allowAllTools, contextKeys: ['cwd'] }
    const life = await lives([move.tool], options).begin()
    const seen: string[] = []
    void (async () => {
      for await (const message of life.session.send('go')) seen.push(JSON.stringify(message))
    })()
    await replyWith(life, ['m', 'Move'])
    journals.hold()
    move.run('m').finish({ contextModifier: (context) => ({ ...context, cwd: '/b' }) })
    await settle()
    for (let round = 0; round < 5 && !seen.join().includes('tool_result'); round++) {
      expect(journals.durable()).not.toContain('context.changed')
      await journals.letGo()
    }
    expect(seen.join()).toContain('tool_result')
    expect(journals.durable()).toEqual(expect.arrayContaining(['call.completed', 'context.changed']))
  })

  it('D5 a long result is in its store before the log has the result', async () => {
    const { store, ...journals } = heldJournals()
    const big = heldTool('Big')
    const tool = { ...big.tool, maxResultSizeChars: 10 }
    let saved: (at: { path: string }) => void = () => undefined
    const resultStore = { save: () => new Promise<{ path: string }>((resolve) => (saved = resolve)) }
    const options = { journals: store, canUseTool: allowAllTools, executor: { resultStore } }
    const life = await lives([tool], options).begin()
    life.session.send('go')
    await replyWith(life, ['b', 'Big'])
    big.run('b').finish({ data: 'x'.repeat(100) })
    await settle()
    expect(journals.durable()).not.toContain('call.completed')
    saved({ path: '/kept/b.txt' })
    await settle()
    expect(journals.has('/kept/b.txt')).toBe(true)
  })

  it('D5 the next request waits for the results that it has, not for the mark that their turn is over', async () => {
    const { store, ...journals } = heldJournals()
    const write = heldTool('Write')
    const life = await lives([write.tool], { journals: store, canUseTool: allowAllTools }).begin()
    life.session.send('go')
    await replyWith(life, ['w', 'Write'])
    journals.hold()
    write.run('w').finish()
    await settle()
    // the end of the reply may go with it
    expect([journals.underWay().flat().at(-1), life.held.requests.length]).toEqual(['call.completed', 1])
    await journals.letGo()
    expect([journals.durable().includes('turn.committed'), life.held.requests.length]).toEqual([false, 2])
  })

  it('S9 a reply and the message behind it are durable before the request that has them', async () => {
    const { store, ...journals } = heldJournals()
    const life = await lives([], { journals: store }).begin()
    life.session.send('go')
    await startReply(life)
    journals.hold()
    life.session.send('and this')
    life.held.text('Done.')
    life.held.end()
    await settle()
    for (let round = 0; round < 5 && life.held.requests.length < 2; round++) await journals.letGo()
    expect(life.held.requests).toHaveLength(2)
    expect(journals.durable().filter((type) => type === 'message.sent' || type === 'reply.block')).toHaveLength(3)
  })

  it('D6 the answer is durable before the body begins', async () => {
    const { store, ...journals } = heldJournals()
    const write = heldTool('Write', { isReadOnly: () => true })
    const life = await lives([write.tool], { journals: store, canUseTool: () => ({ behavior: 'later' }) }).begin()
    life.session.send('go')
    await replyWith(life, ['w', 'Write'])
    const [question] = life.session.questions()
    journals.hold()
    void life.session.answer(question?.id as string, { behavior: 'allow' })
    for (let round = 0; round < 5 && !journals.underWay().flat().includes('permission.answered'); round++) {
      expect(write.started).toEqual([])
      if (journals.underWay().length > 0) await journals.letGo()
      else await settle()
    }
    expect([journals.underWay().flat(), write.started]).toEqual([expect.arrayContaining(['permission.answered']), []])
    await journals.letGo()
    await journals.letGo()
    expect(write.started).toEqual(['w'])
  })

  it('D7 the end of the run is durable before the view ends', async () => {
    const { store, ...journals } = heldJournals()
    const life = await lives([], { journals: store }).begin()
    let isOver = false
    void readAll(life.session.send('go')).then(() => {
      isOver = true
    })
    await startReply(life)
    journals.hold()
    life.held.text('Done.')
    life.held.end()
    await settle()
    for (let round = 0; round < 5 && !journals.underWay().flat().includes('run.ended'); round++) await journals.letGo()
    expect([journals.underWay().flat(), isOver]).toEqual([expect.arrayContaining(['run.ended']), false])
    await journals.letGo()
    expect(isOver).toBe(true)
  })

  it('D7 the suspension of the run is durable before the view ends', async () => {
    const { store, ...journals } = heldJournals()
    const pay = heldTool('Pay')
    const life = await lives([pay.tool], { journals: store, canUseTool: () => ({ behavior: 'later' }) }).begin()
    let isOver = false
    void readAll(life.session.send('go')).then(() => {
      isOver = true
    })
    await startReply(life)
    journals.hold()
    life.held.call('p', 'Pay')
    life.held.end('tool_use')
    await settle()
    for (let round = 0; round < 5 && !journals.underWay().flat().includes('run.suspended'); round++)
      await journals.letGo()
    expect([journals.underWay().flat(), isOver]).toEqual([expect.arrayContaining(['run.suspended']), false])
    expect([life.session.status, life.session.result]).toEqual(['running', undefined])
    await journals.letGo()
    expect([isOver, life.session.result?.reason]).toEqual([true, 'suspended'])
  })

  it('D8 one commit is under way at a time, and what is appended meanwhile goes with the next', async () => {
    const { store, ...journals } = heldJournals()
    const journal = await store.open('s', { owner: 'me', mode: 'create' })
    journals.hold()
    const append = (t: string) => {
      journal.append({ t, optional: true })
      void journal.flush()
    }
    append('one')
    await settle()
    append('two')
    await settle()
    append('three')
    await settle()
    expect(journals.underWay()).toEqual([['one']])
    await journals.letGo()
    expect(journals.underWay()).toEqual([['two', 'three']])
  })

  it('D8 a commit that nothing else can join begins at once, with what was appended before it', async () => {
    const { store, ...journals } = heldJournals()
    const journal = await store.open('s', { owner: 'me', mode: 'create' })
    journals.hold()
    const append = (t: string, isAlone: boolean) => {
      journal.append({ t, optional: true })
      void journal.flush(isAlone)
    }
    append('result', false)
    expect(journals.underWay()).toEqual([])
    append('start', true)
    expect(journals.underWay()).toEqual([['result', 'start']])
    append('next start', true)
    await settle()
    expect(journals.underWay()).toEqual([['result', 'start']])
    await journals.letGo()
    expect(journals.underWay()).toEqual([['next start']])
  })
})

describe('an unknown outcome', () => {
  it('D12 is never retried, counts as a failure for the calls beside it, and is an event of its own', async () => {
    const options = { safe: true, cancelsSiblingsOnError: true, obedient: true }
    const shell = heldTool('Shell', { ...options, retry: { attempts: 3 } })
    const other = heldTool('Other', { safe: true, isReadOnly: () => true, obedient: true })
    const world = lives([shell.tool, other.tool], { canUseTool: allowAllTools })
    const first = await world.begin()
    first.session.send('go')
    await replyWith(first, ['s', 'Shell'], ['o', 'Other'])
    expect([shell.started, other.started]).toEqual([['s'], ['o']])
    const second = await world.begin()
    const unknown: unknown[] = []
    second.session.on('run_started', ({ run }) => {
      run.onExecutor((executor) => executor.on('tool_use_unknown', (event) => unknown.push(event)))
    })
    second.session.resume()
    await sayLast(second)
    await second.session.whenIdle()
    expect(shell.started).toEqual(['s'])
    expect(unknown).toMatchObject([{ toolUseID: 's' }])
    const text = JSON.stringify(second.session.transcript)
    expect(text).toContain(
      'The process stopped while this call was running. It may or may not have taken effect. Check before you try again.',
    )
    expect(text).toMatch(/Cancelled|cancelled/)
    expect(text).not.toContain('o done')
  })
})
