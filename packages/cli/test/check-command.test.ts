import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runCli } from '../src/run-cli.ts'
import { fakeIo } from './fake-io.ts'
import { temporaryFolder } from './support.ts'

const folder = temporaryFolder()
let files = 0
const fileOf = (text: string, ending = 'jsonl'): string => {
  const path = join(folder, `t${++files}.${ending}`)
  writeFileSync(path, text)
  return path
}
const check = async (...args: string[]): Promise<{ code: number; out: string; err: string }> => {
  const { io, printed } = fakeIo()
  return { code: await runCli(['check', ...args], io), ...printed }
}
const line = (value: unknown): string => `${JSON.stringify(value)}\n`
const user = { role: 'user', content: 'Do the tests pass?' }
const call = { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'Bash', input: {} }] }
const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'yes' }] }
const orphan = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'z', content: 'yes' }] }

describe('signalbox check', () => {
  it('finds nothing wrong with a valid transcript', async () => {
    const path = fileOf(line(user) + line(call) + line(result))
    expect(await check(path)).toEqual({ code: 0, out: `✓ ${path} is valid: 3 messages.\n`, err: '' })
  })

  it('recognizes a recording', async () => {
    const path = fileOf(line({ seq: 0, at: 0, type: 'run', run: 'r1' }) + line({ seq: 1, at: 1, type: 'event' }))
    const { code, out, err } = await check(path)
    expect([code === 0, out]).toEqual([false, ''])
    expect(err).toContain(`is a recording, not a transcript. Play it with: signalbox replay ${path}`)
  })

  it('names each fault with its line and its code', async () => {
    const path = fileOf(`${line(user)}\n${line(call)}no json\n${line(orphan)}{"role":"us`)
    const { code, out } = await check(path)
    expect(code).toBe(3)
    expect(out.split('\n')).toEqual([
      'line 3  unanswered_call  The call "a" has no result.',
      'line 4  bad_json         This line is not valid JSON.',
      expect.stringMatching(/^line 5 {2}orphan_result {4}/),
      'line 6  torn_line        The last line is incomplete: its writer was stopped in the middle.',
      `✗ ${path}: 4 faults in 3 messages.`,
      `To repair it and keep the original: signalbox check ${path} --repair`,
      '',
    ])
  })

  it('prints the same as JSON', async () => {
    const path = fileOf(line(user) + line(call))
    const { code, out } = await check(path, '--json')
    expect(code).toBe(3)
    expect(JSON.parse(out)).toEqual({
      file: path,
      messages: 2,
      ok: false,
      faults: [{ line: 2, code: 'unanswered_call', message: expect.any(String), block: 0, toolUseID: 'a' }],
    })
  })

  it('repairs, and keeps each original beside it', async () => {
    const text = `${line(user)}${line(call)}{"role":"us`
    const path = fileOf(text)
    writeFileSync(`${path}.bak`, 'an older one')
    const { code, out } = await check(path, '--repair')
    expect(code).toBe(0)
    expect(out).toContain('→ added')
    expect(out).toContain('→ dropped')
    expect(readFileSync(`${path}.bak`, 'utf8')).toBe('an older one')
    expect(readFileSync(`${path}.bak2`, 'utf8')).toBe(text)
    expect((await check(path)).code).toBe(0)
    expect(existsSync(`${path}.bak3`)).toBe(false)
  })

  it('repairs into another file, and never overwrites one', async () => {
    const text = line(user) + line(call)
    const path = fileOf(text)
    const output = join(folder, 'mended.jsonl')
    expect((await check(path, '--repair', '--output', output)).code).toBe(0)
    expect(readFileSync(path, 'utf8')).toBe(text)
    expect((await check(output)).code).toBe(0)
    const again = await check(path, '--repair', '--output', output)
    expect(again).toMatchObject({ code: 2, err: expect.stringContaining('already exists') })
  })

  it('accepts an array of messages, and writes one', async () => {
    const path = fileOf(JSON.stringify([user, call], null, 2), 'json')
    const { code, out } = await check(path)
    expect([code, out]).toEqual([3, expect.stringContaining('message 2  unanswered_call')])
    await check(path, '--repair')
    expect(JSON.parse(readFileSync(path, 'utf8'))).toHaveLength(3)
  })

  it.each([
    ['nowhere.jsonl', 'no such file'],
    [folder, 'expected a file, found a folder'],
  ])('reports the problem with %s', async (path, problem) => {
    expect(await check(path)).toMatchObject({ code: 2, err: expect.stringContaining(problem) })
  })

  it('the repaired file is valid, whatever it contained', async () => {
    const piece = fc.oneof(
      fc.constantFrom(
        line(user),
        line(call),
        line(result),
        line(orphan),
        '\n',
        'no json\n',
        '{"role":',
        '[]\n',
        'null\n',
      ),
      fc.json().map((text) => `${text}\n`),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 8 }), async (pieces) => {
        const path = fileOf(pieces.join(''))
        const output = `${path}.out`
        expect((await check(path, '--repair', '--output', output)).code).toBe(0)
        expect((await check(output)).code).toBe(0)
      }),
      { numRuns: 60 },
    )
  })
})
