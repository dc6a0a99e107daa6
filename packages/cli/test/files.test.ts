import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { RecordingFile } from '../src/run/recording-file.ts'
import { runCli } from '../src/run-cli.ts'
import { fakeIo } from './fake-io.ts'
import { makeScript, temporaryFolder } from './support.ts'

const folder = temporaryFolder()
const script = makeScript(folder, 'turns.json', ['Hello.'])

async function run(...args: string[]) {
  const { io, printed } = fakeIo()
  return { code: await runCli(['run', '--script', script, '--cwd', folder, ...args], io), ...printed }
}
const linesOf = (path: string): unknown[] =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

it('a transcript without a final line break is continued on a new line', async () => {
  const transcript = join(folder, 'bare.jsonl')
  await run('--transcript', transcript, 'First.')
  writeFileSync(transcript, readFileSync(transcript, 'utf8').trimEnd())
  expect(await run('--resume', transcript, 'Second.')).toMatchObject({ code: 0, err: '' })
  expect(linesOf(transcript)).toHaveLength(4)
})

it('an empty transcript can be continued', async () => {
  const transcript = join(folder, 'empty.jsonl')
  writeFileSync(transcript, '')
  expect(await run('--resume', transcript, 'First.')).toMatchObject({ code: 0, err: '' })
  expect(linesOf(transcript)).toHaveLength(2)
})

it('a run that cannot begin leaves no empty file', async () => {
  const [transcript, taken] = [join(folder, 'new.jsonl'), join(folder, 'taken.jsonl')]
  writeFileSync(taken, 'mine')
  expect(await run('--transcript', transcript, '--record', taken)).toMatchObject({ code: 2 })
  expect([existsSync(transcript), readFileSync(taken, 'utf8')]).toEqual([false, 'mine'])
  const servers = join(folder, 'same.json')
  writeFileSync(servers, JSON.stringify({ mcpServers: { 'a b': { command: 'x' }, 'a.b': { command: 'x' } } }))
  const recording = join(folder, 'new-r.jsonl')
  const refused = await run('--transcript', transcript, '--record', recording, '--mcp', servers)
  expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('would both become mcp__a_b') })
  expect([existsSync(transcript), existsSync(recording)]).toEqual([false, false])
})

it('a recording that can no longer be written reports it, and the run continues', () => {
  mkdirSync(join(folder, 'r'))
  const file = new RecordingFile(join(folder, 'r', 'r.jsonl'))
  file.close()
  expect(file.problem).toBeUndefined()
  file.take({ seq: 0, at: 0, run: 0, type: 'said', by: 'model', text: 'x'.repeat(100_000) })
  expect(file.problem).toMatch(/r\.jsonl/)
  file.take({ seq: 1, at: 0, run: 0, type: 'left' })
  file.close()
})
