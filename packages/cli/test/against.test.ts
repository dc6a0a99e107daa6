import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createRecorder, type Frame, frameLine } from '../../../src/inspect/index.ts'
import { flush, heldTool, heldTurn } from '../../../src/testing/index.ts'
import { runCli } from '../src/run-cli.ts'
import { fakeIo } from './fake-io.ts'
import { temporaryFolder } from './support.ts'

const folder = temporaryFolder()

const said = async (...args: string[]) => {
  const { io, printed } = fakeIo()
  return { code: await runCli(args, io), ...printed }
}

const fileWith = (name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const odd = '\u001b]0;title\u0007\nBash\u202e'

/** A read, and a call of an unknown tool whose name contains terminal control characters. */
async function recorded(bodyMs: number, isBroken = false): Promise<string> {
  const frames: Frame[] = []
  const read = heldTool('Read', { safe: true })
  const { add, clock, executor } = heldTurn([read.tool])
  createRecorder({ onFrame: (frame) => frames.push(frame), now: () => clock.now() }).watch(executor)
  add('a', 'Read', { path: 'a.ts' })
  add('b', odd)
  clock.increment(bodyMs)
  if (isBroken) read.run('a').fail(new Error('gone'))
  else read.run('a').finish()
  await flush()
  for (const _ of executor.getCompletedResults());
  return frames.map(frameLine).join('')
}

describe('signalbox replay --against', () => {
  it('prints two recordings call by call, with the first difference', async () => {
    const first = fileWith('a.jsonl', await recorded(40))
    const second = fileWith('b.jsonl', await recorded(60, true))
    const { code, out, err } = await said('replay', first, '--against', second)
    expect([code, err]).toEqual([0, ''])
    expect(out.split('\n')).toEqual([
      '1 of 2 calls differ. 40 ms here, 60 ms there.',
      expect.stringMatching(/^ {3}1 {2}Read.* {2}40 ms \| 60 ms {2}outcome: a result \| an error$/),
      expect.stringMatching(/^ {3}2 {2} Bash {2}- \| - {2}equal$/),
      '',
    ])
    expect((await said('replay', first, '--against', first)).out).toContain('All 2 calls are equal. 40 ms here')
  })

  it('reports a file that cannot be compared', async () => {
    const fine = await recorded(1)
    const first = fileWith('a.jsonl', fine)
    const cases = [
      [fileWith('none.jsonl', 'hello'), 'Not a Signalbox recording'],
      [fileWith('empty.jsonl', `${fine.split('\n', 1)[0]}\n`), 'it contains no run'],
      [join(folder, 'nowhere.jsonl'), 'no such file'],
    ] as const
    for (const [path, problem] of cases) {
      for (const pair of [
        [first, '--against', path],
        [path, '--against', first],
      ]) {
        expect(await said('replay', ...pair)).toMatchObject({ code: 2, err: expect.stringContaining(problem) })
      }
    }
    expect((await said('replay', first, '--against', first, '--html', 'x.html')).code).toBe(2)
  })
})
