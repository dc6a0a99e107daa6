import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileJournals } from 'signalbox/node'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sha256 } from '../../../src/base/sha256.ts'
import { ToldChild, writeProgram } from '../../support/told-child.ts'

describe('two processes on one session', () => {
  let folder: string
  let home: string
  let program: string
  const children: ToldChild[] = []
  const child = (): ToldChild => {
    const started = new ToldChild(program, folder)
    children.push(started)
    return started
  }

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'signalbox-program-'))
    const store = 'fileJournals({ folder: process.argv[2] })'
    program = await writeProgram(home, 'src/node/index.ts', 'fileJournals', store)
    return () => rm(home, { recursive: true, force: true })
  })
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'signalbox-processes-'))
  })
  afterEach(async () => {
    for (const each of children.splice(0)) await each.kill()
    await rm(folder, { recursive: true, force: true })
  })

  const texts = async (): Promise<unknown[]> => {
    const found: unknown[] = []
    for await (const { t, text } of fileJournals({ folder }).read('s')) if (t === 'message.sent') found.push(text)
    return found
  }
  const answer = (by: string) => ({ type: 'answer', question: 'q', answer: { behavior: 'allow' }, by })

  it('D10 a living owner keeps it; a killed one is replaced, and nothing flushed is lost', async () => {
    const first = child()
    const second = child()
    expect(await first.tell('open', 'first')).toBe('done')
    expect(await second.tell('open', 'second')).toBe('session_locked')
    first.process.send({ command: 'flood' })
    await first.until(() => first.flushed >= 20)
    expect(await second.tell('open', 'second')).toBe('session_locked')
    await first.kill()
    expect(await second.tell('open', 'second')).toBe('done')
    const kept = await texts()
    expect(kept.length).toBeGreaterThan(first.flushed)
    expect(kept).toEqual([...kept.keys()])
    expect(await second.tell('write', 'mine')).toBe('done')
    expect((await texts()).at(-1)).toBe('mine')
  })

  it('D10 an owner that is stopped for a while is still the only one that writes', async () => {
    const [first, second] = [child(), child()]
    await first.tell('open', 'first')
    first.process.kill('SIGSTOP')
    expect(await second.tell('open', 'second')).toBe('session_locked')
    first.process.kill('SIGCONT')
    expect(await first.tell('write', 'mine')).toBe('done')
    expect(await texts()).toEqual(['mine'])
    const types = (await readFile(join(folder, `${sha256('s')}.jsonl`), 'utf8')).match(/session\.opened/g)
    expect(types).toHaveLength(1)
  })

  it('D6a D16 an answer of another process reaches an owner that runs, and one that comes later; the first counts', async () => {
    const [owner, ann, bob] = [child(), child(), child()]
    await owner.tell('open', 'owner')
    await owner.tell('ask', 'q')
    const said = await Promise.all([ann.tell('post', answer('ann')), bob.tell('post', answer('bob'))])
    expect([...said].sort()).toEqual(['accepted', 'stale'])
    await owner.until(() => owner.notes.length > 0)
    const winner = answer(said[0] === 'accepted' ? 'ann' : 'bob')
    expect(owner.notes).toEqual([winner])
    await owner.kill()
    const message = { type: 'message', uuid: 'm', content: 'while nobody owns it' }
    expect(await ann.tell('post', message)).toBe('accepted')
    expect(await bob.tell('post', message)).toBe('stale')
    const next = child()
    await next.tell('open', 'next')
    await next.until(() => next.notes.length > 1)
    // the first owner was killed before it copied the answer
    expect(next.notes).toEqual([winner, message])
  })
})
