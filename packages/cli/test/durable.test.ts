import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fileJournals } from '../../../src/node/index.ts'
import { blockRecord, openedReply, startedRecord, stoppedRecord } from '../../../test/support/log-records.ts'
import { runCli } from '../src/run-cli.ts'
import { fakeIo } from './fake-io.ts'
import { builtCli, makeScript, run, start, temporaryFolder } from './support.ts'
import { hasTmux, openTerminal } from './tmux.ts'

const folder = temporaryFolder()
let count = 0
const touch = { call: 'Bash', input: { command: 'touch made.txt' } }

/** A workspace, a folder for journals, and two scripts: what the model says until it asks, and what it says afterwards. */
function scene(first: unknown = [[touch], 'Made it.'], then: unknown = ['Made it.']) {
  const place = join(folder, `scene${++count}`)
  const [root, journal] = [join(place, 'work'), join(place, 'journal')]
  mkdirSync(root, { recursive: true })
  const common = ['--cwd', root, '--journal', journal]
  const scriptOf = (name: string, script: unknown) => ['--script', makeScript(place, name, script)]
  return {
    root,
    journal,
    made: join(root, 'made.txt'),
    begin: ['run', ...scriptOf('first.json', first), ...common],
    resume: (id: string) => ['resume', id, ...scriptOf('then.json', then), ...common],
    sessions: ['sessions', '--journal', journal],
    answer: (id: string, question: string, ...how: string[]) => ['answer', id, question, '--journal', journal, ...how],
    journals: fileJournals({ folder: journal }),
  }
}

async function inProcess(args: readonly string[]) {
  const { io, printed } = fakeIo()
  return { code: await runCli(args, io), ...printed }
}

async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

const questionIn = (text: string): string => /question_[0-9a-f]+/.exec(text)?.[0] ?? 'none'

/** A session that waits for an answer. */
async function suspended(...given: Parameters<typeof scene>) {
  const all = scene(...given)
  const { code, out } = await inProcess([...all.begin, '--session', 'mine'])
  expect(code).toBe(5)
  return { ...all, question: questionIn(out), out }
}

/** A call that asks beside one that runs until it is released. */
function busy() {
  const read = { call: 'Read', input: { file_path: 'a.txt' } }
  const all = scene([[read, { call: 'Bash', input: { command: 'cat pipe' } }], 'Made it.'])
  const pipe = join(all.root, 'pipe')
  execFileSync('mkfifo', [pipe])
  writeFileSync(join(all.root, 'a.txt'), 'one')
  const begin = [...all.begin, '--session', 'mine', '--ask', 'Read', '--allow', 'Bash(cat pipe)']
  return { ...all, begin, release: () => writeFileSync(pipe, 'go on') }
}

function startOwner(args: readonly string[]) {
  const owner = start(builtCli(), args)
  // SIGTERM lets it stop its own calls
  onTestFinished(() => void owner.child.kill('SIGTERM'))
  return owner
}

describe('D27 a stored session', () => {
  it('D27 is suspended in one process, listed, answered and resumed in others', async () => {
    const cli = builtCli()
    const { begin, sessions, answer, resume, made, journal } = scene()
    const first = await run(cli, begin)
    expect([first.code, first.err]).toEqual([5, ''])
    const id = /· Suspended: .* · session (\w+)/.exec(first.out)?.[1] ?? 'none'
    const question = questionIn(first.out)
    expect(first.out).toContain(`signalbox answer ${id} ${question} --journal ${journal} --allow`)
    expect(first.out).toContain(`signalbox resume ${id} --journal ${journal}`)
    expect(first.out).toMatch(/^◌ #1 Bash\(touch made\.txt\) · kept for later$/m)
    expect(existsSync(made)).toBe(false)

    const listed = await run(cli, sessions)
    expect([listed.code, listed.err]).toEqual([0, ''])
    expect(listed.out).toMatch(new RegExp(`^${id} · suspended · \\d+ records · \\d{4}-`))
    expect(listed.out).toContain('  ? May Bash run?\n    command:\n    │ touch made.txt\n')
    expect(listed.out).toContain(question)

    expect(await run(cli, answer(id, question, '--allow'))).toMatchObject({ code: 0, out: 'accepted.\n', err: '' })
    const second = await run(cli, answer(id, question, '--deny', 'No.'))
    expect([second.code, second.out]).toEqual([1, expect.stringMatching(/^stale/)])

    const last = await run(cli, resume(id))
    expect([last.code, last.err]).toEqual([0, ''])
    expect(last.out).toMatch(/^✓ #1 Bash/m)
    expect(last.out).toMatch(new RegExp(`Made it\\.\n· Done: .* · session ${id}\n$`))
    expect(existsSync(made)).toBe(true)
    expect((await inProcess(sessions)).out).toMatch(new RegExp(`^${id} · idle · .*\n$`))
    expect((await inProcess(answer(id, question, '--allow'))).out).toMatch(/^stale/)
  })

  it('D27 says how to resume it, with the options of the run, but not the script that it has played', async () => {
    const { begin, root, journal } = scene()
    const rules = ['--deny', 'Bash(rm *)', '--tools', 'Bash,Read', '--permission-mode', 'default']
    const { out, err } = await inProcess([...begin, '--session', 'mine', ...rules])
    expect(out + err).toContain(
      `Resume: signalbox resume mine --journal ${journal} --script <file with the next turns> --cwd ${root} --tools Bash,Read --deny 'Bash(rm *)' --permission-mode default`,
    )
  })

  it('can be answered while a process has it open, and is locked for others', async () => {
    const { begin, answer, resume, release, sessions } = busy()
    const owner = startOwner(begin)
    await owner.printed('waits for a later answer')
    // nobody flushes a question: it is in the file a moment later
    const list = async () => (await inProcess(sessions)).out
    await expect.poll(list, { timeout: 10_000 }).toMatch(/^mine · running · [^?]*\? May Read run\?/)
    const question = questionIn(await list())
    const second = await inProcess(resume('mine'))
    const locked = new RegExp(
      `Session mine is already open: \\w+@${hostname()} \\(process ${owner.child.pid}\\) has it`,
    )
    expect([second.code, second.err]).toEqual([2, expect.stringMatching(locked)])
    expect((await inProcess(answer('mine', question, '--allow'))).out).toBe('accepted.\n')
    await owner.printed('✓ #1 Read')
    release()
    expect(await owner.ended).toMatchObject({ code: 0, out: expect.stringContaining('Made it.') })
  })

  it('gives the model the reason of a denial', async () => {
    const { answer, resume, question, made, journals } = await suspended()
    await inProcess(answer('mine', question, '--deny', 'Not on a Friday.'))
    expect((await inProcess(resume('mine'))).code).toBe(0)
    expect(existsSync(made)).toBe(false)
    expect(JSON.stringify(await allOf(journals.read('mine')))).toContain('Not on a Friday.')
  })

  it('D12 D27 says that an outcome is unknown, and that a call of the log failed, not that they did not run', async () => {
    const { journals, resume } = scene()
    const journal = await journals.open('mine', { owner: 'gone', mode: 'create' })
    const content = [{ type: 'tool_result', tool_use_id: 'a', content: 'no such file', is_error: true }]
    const failed = { type: 'user', uuid: 'f', message: { role: 'user', content } }
    const [a, b] = [startedRecord('a'), startedRecord('b')]
    const records = [blockRecord('a', 'Bash'), blockRecord('b', 'Bash'), stoppedRecord, a]
    for (const record of openedReply(...records)) journal.append(record as never)
    journal.append({ t: 'call.completed', reply: 'r1', call: 'a', messages: [failed] })
    journal.append(b as never)
    await journal.close()
    const { code, out } = await inProcess(resume('mine'))
    expect(code).toBe(0)
    expect(out).toMatch(/^✗ #1 Bash.* · failed$/m)
    expect(out).toMatch(/^✗ #2 Bash.* · outcome unknown\n {2}│ The process stopped while this call was running\./m)
    expect(out).not.toContain('did not run')
  })

  it('stays suspended if nobody has answered, and says so as JSON', async () => {
    const { resume, question } = await suspended()
    const { code, out } = await inProcess([...resume('mine'), '--json'])
    const lines = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines[0]).toMatchObject({ type: 'begin', session: 'mine' })
    expect(lines.at(-1)).toMatchObject({
      type: 'end',
      reason: 'suspended',
      exitCode: 5,
      session: 'mine',
      questions: [question],
    })
    expect([code, lines.filter(({ type }) => type === 'note').length]).toEqual([5, 3])
  })

  it('takes another prompt when its run has ended', async () => {
    const { begin, resume } = scene(['Hello.'])
    expect((await inProcess([...begin, '--session', 'mine', '--quiet'])).err).toBe('signalbox: session mine\n')
    const none = await inProcess(resume('mine'))
    expect([none.code, none.err]).toEqual([2, expect.stringContaining('nothing to resume')])
    expect(await inProcess([...begin, '--session', 'mine', 'Again.'])).toMatchObject({ code: 0 })
  })

  it('is suspended by SIGTERM, with its question open', async () => {
    const { begin, sessions } = busy()
    const owner = startOwner(begin)
    await owner.printed('waits for a later answer')
    owner.child.kill('SIGTERM')
    expect(await owner.ended).toMatchObject({ code: 5, out: expect.stringContaining('signalbox resume mine') })
    expect((await inProcess(sessions)).out).toMatch(/^mine · suspended · [^?]*\? May Read run\?/)
  })
})

describe.skipIf(!hasTmux)('a stored session in a real terminal', () => {
  it('asks there, and takes an answer from another process instead', async () => {
    const { begin, answer, sessions, made, root } = scene()
    const args = [...begin, '--session', 'mine', '--no-interactive']
    const terminal = openTerminal([process.execPath, builtCli(), ...args], 80, 24, root)
    await terminal.shows('May #1 Bash run?')
    const list = async () => (await inProcess(sessions)).out
    await expect.poll(list, { timeout: 10_000 }).toContain('May Bash run?')
    expect((await inProcess(answer('mine', questionIn(await list()), '--allow'))).out).toBe('accepted.\n')
    expect(await terminal.ended()).toBe(0)
    expect(existsSync(made)).toBe(true)
  })
})

describe('the answer "always"', () => {
  it('adds the rule that the question names, and needs one', async () => {
    const { answer, question, journals, sessions } = await suspended()
    const exact = await inProcess(answer('mine', question, '--allow', '--always'))
    expect([exact.code, exact.out]).toEqual([0, expect.stringMatching(/^accepted\. Added the rule Bash\(.+\)\.\n$/)])
    const journal = await journals.open('other', { owner: 'test', mode: 'create' })
    const shown = { toolName: 'Pay', input: {}, because: { by: 'mode', mode: 'default' }, rule: 'Pay' }
    journal.append({ t: 'permission.asked', question: 'q1', reply: 'r1', call: 'c1', shown })
    journal.append({
      t: 'permission.asked',
      question: 'q2',
      reply: 'r1',
      call: 'c2',
      shown: { ...shown, rule: undefined },
    })
    await journal.close()
    const none = await inProcess(answer('other', 'q2', '--allow', '--always'))
    expect([none.code, none.err]).toEqual([2, expect.stringContaining('names no rule')])
    expect((await inProcess(sessions)).out).toContain('--always adds the rule:\n    │ Pay\n')
    const given = await inProcess(answer('other', 'q1', '--allow', '--always'))
    expect([given.code, given.out]).toEqual([0, 'accepted. Added the rule Pay.\n'])
    const opened = await journals.open('other', { owner: 'test', mode: 'resume' })
    const note = await new Promise<unknown>((resolve) => opened.onNote(resolve))
    await opened.close()
    expect(note).toMatchObject({ question: 'q1', answer: { behavior: 'allow', addRules: { allow: ['Pay'] } } })
  })
})

describe('wrong commands on stored sessions', () => {
  it('name what is wrong', async () => {
    const { answer, resume, question, journals, journal, begin, root } = await suspended()
    const problem = async (args: readonly string[]) => {
      const { code, err } = await inProcess(args)
      expect(code).toBe(2)
      return err
    }
    const missing = `Session yours does not exist in ${journal}. List the sessions: signalbox sessions --journal ${journal}`
    expect(await problem(resume('yours'))).toContain(missing)
    expect(await problem(answer('yours', question, '--allow'))).toContain(missing)
    const file = join(root, 'a.txt')
    writeFileSync(file, 'no folder')
    for (const command of [['sessions'], ['answer', 'mine', question, '--allow'], ['resume', 'mine'], ['run', 'Hi.']])
      expect(await problem([...command, '--journal', file])).toBe(
        `signalbox: --journal: expected a folder, but ${file} is a file.\n`,
      )
    expect(await problem(answer('mine', 'q7', '--allow'))).toContain(`no question q7. Open questions: ${question}.`)
    expect(await problem(answer('mine', question))).toContain('either --allow or --deny')
    expect(await problem(answer('mine', question, '--allow', '--deny', 'x'))).toContain('either --allow or --deny')
    expect(await problem([...begin, '--continue'])).toContain('cannot be combined with a transcript')
    expect(await problem(['run', '--session', 'x', 'Hi.'])).toContain('--session needs --journal')
    expect((await allOf(journals.list())).map(({ id }) => id)).toEqual(['mine'])
  })

  it('a journal of a newer version is left alone, and nothing of a file reaches the terminal unescaped', async () => {
    const { journal, journals, answer, resume, sessions } = scene()
    const evil = 'a\u001b]0;title\u0007\nb'
    const written = await journals.open(evil, { owner: evil, mode: 'create' })
    const shown = { toolName: evil, input: { [evil]: evil }, because: { by: 'mode', mode: 'default' }, rule: evil }
    written.append({ t: 'permission.asked', question: evil, reply: 'r1', call: 'c1', shown })
    await written.close()
    const before = await inProcess(sessions)
    expect([before.code, before.out]).toEqual([0, expect.stringContaining('May a')])
    const newer = await journals.open('newer', { owner: 'x', mode: 'create' })
    newer.append({ t: evil })
    await newer.close()
    const after = await inProcess(sessions)
    expect(after.out).toContain('Update Signalbox to open it.')
    const outputs = [before, after, await inProcess(answer(evil, 'none', '--allow')), await inProcess(resume('newer'))]
    expect(outputs.map(({ code }) => code)).toEqual([0, 0, 2, 2])
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it is these that must not reach the terminal
    for (const { out, err } of outputs) expect(out + err).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/)
    expect((await inProcess(answer('newer', 'q', '--allow'))).err).toContain('Update Signalbox')
    const [log] = readdirSync(journal).filter((name) => name.endsWith('.jsonl'))
    appendFileSync(join(journal, log as string), 'broken\n')
    const { out } = await inProcess(sessions)
    expect(out).toMatch(/ · damaged · 3 records · .*\n {2}✗ .* is damaged at/)
    expect(out).toContain('newer · written by a newer version · 3 records · ')
  })

  it('a folder without sessions has none', async () => {
    const { sessions, journal } = scene()
    expect(await inProcess(sessions)).toMatchObject({ code: 0, out: `No sessions in ${journal}.\n` })
    expect(existsSync(journal)).toBe(false)
  })
})
