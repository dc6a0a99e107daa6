import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runCli } from '../src/run-cli.ts'
import { fakeIo } from './fake-io.ts'
import { builtCli, makeScript, temporaryFolder } from './support.ts'
import { hasTmux, openTerminal } from './tmux.ts'

const bash = (command: string) => ({ call: 'Bash', input: { command } })
const read = { call: 'Read', input: { file_path: 'a.txt' } }
const edit = { call: 'Edit', input: { file_path: 'a.txt', old_string: 'two', new_string: 'TWO' } }
const waitFor = (path: string, text = 'waiting') =>
  bash(`echo ${text}; while [ ! -e ${path} ]; do sleep 0.05; done; echo there`)

const isValid = async (path: string): Promise<boolean> => (await runCli(['check', path], fakeIo().io)) === 0

const secondsOn = (screen: string): number => {
  // from ten seconds on, it has no decimals
  const [, minutes = 0, seconds = 0] = [...screen.matchAll(/runs (?:(\d+) min )?(\d+(?:\.\d)?) s/g)].at(-1) ?? []
  return Number(minutes) * 60 + Number(seconds)
}

describe.skipIf(!hasTmux)('in a real terminal (needs tmux: apt-get install tmux)', () => {
  const cli = hasTmux ? builtCli() : ''
  const folder = temporaryFolder()
  let count = 0

  function open(turns: unknown, more: readonly string[] = [], columns = 80, rows = 24) {
    const place = join(folder, `${++count}`)
    mkdirSync(place)
    writeFileSync(join(place, 'a.txt'), 'one\ntwo\nthree\n')
    const script = makeScript(folder, `${count}.json`, { prompt: 'Go.', turns })
    const transcript = join(folder, `${count}.jsonl`)
    const args = ['run', '--script', script, '--transcript', transcript, ...more]
    const terminal = openTerminal([process.execPath, cli, ...args], columns, rows, place)
    return { ...terminal, place, transcript, make: (name: string) => writeFileSync(join(place, name), '') }
  }
  const anything = ['--permission-mode', 'bypassPermissions'] as const

  it('draws each call: its output as it comes, why it waits, held for order, a diff; and leaves the terminal in order', async () => {
    const it = open([['I look.\n', waitFor('go'), read], [edit, read], 'All done.'], anything)
    await it.shows('#2 Read(a.txt) · waits for #1 Bash, which must run alone')
    await it.shows(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] #1 Bash\(echo waiting.* · runs/)
    await it.shows('│ waiting')
    it.make('go')
    expect(await it.ended()).toBe(0)
    const lines = it.history().split('\n')
    const seen = lines.filter((line) => /^[✓✗⊘?◌▪⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] /.test(line)).map((line) => line.slice(0, 9))
    expect(seen).toEqual(['✓ #1 Bash', '✓ #2 Read', '✓ #3 Edit', '✓ #4 Read'])
    expect(lines).toEqual(expect.arrayContaining(['> Go.', 'I look.', '  │ -two', '  │ +TWO', 'All done.']))
    expect(await isValid(it.transcript)).toBe(true)
  })

  it('shows what is finished and held for order', async () => {
    const it = open([[bash('sleep 600'), read], 'Done.'], ['--allow', 'Bash(sleep *)'])
    await it.shows('▪ #2 Read(a.txt) · done, held for order: #1 Bash is not finished')
    it.keys('C-c')
    await it.shows('Interrupted: calls that must not')
    it.keys('C-c')
    expect(await it.ended()).toBe(130)
    expect(it.history()).toContain('⊘ #1 Bash(sleep 600) · stopped by you')
    expect(await isValid(it.transcript)).toBe(true)
  })

  it('X1 the key b sends a running call to the background: the conversation goes on, and hears of its end', async () => {
    const it = open([['I build.\n', waitFor('go')], ['I look.\n', read], 'I wait.\n', 'It is built.'], anything)
    await it.shows('│ waiting')
    it.keys('b')
    await it.shows('▪ #1 Bash(echo waiting')
    await it.shows('goes on in the background')
    await it.shows('✓ #2 Read(a.txt)')
    await it.shows('I wait.')
    it.make('go')
    expect(await it.ended()).toBe(0)
    const all = it.history()
    expect(all).toContain('#1 Bash in the background (bg_1) has finished.')
    expect(all).toContain('It is built.')
    expect(await isValid(it.transcript)).toBe(true)
  })

  it('asks: yes once, always with its rule, no with a reason; one after the other', async () => {
    const it = open([
      [bash('touch made'), bash('touch more'), bash('touch more')],
      // a third one in a row would be asked about
      [bash('ls'), bash('touch more'), bash('touch never')],
      'Well.',
    ])
    await it.shows('May #1 Bash run?')
    await it.shows('│ Bash(touch made)')
    it.keys('y')
    await it.shows('May #2 Bash run?')
    it.keys('a')
    await it.shows('May #6 Bash run?')
    it.keys('n')
    await it.shows('Why not?')
    it.type('not on Mondays')
    it.keys('BSpace')
    await it.shows('not on Monday▏')
    it.keys('Enter')
    expect(await it.ended()).toBe(0)
    const all = it.history()
    expect(all).toContain('Allowed for the rest of this session: Bash(touch more).')
    expect(all).toContain('The user denied this call: not on Monday')
    expect(['made', 'more', 'never'].map((name) => existsSync(join(it.place, name)))).toEqual([true, true, false])
  })

  it('several questions queue up, and an edit shows its diff', async () => {
    const it = open([
      [read],
      [
        { call: 'WebFetch', input: { url: 'http://a.invalid/' } },
        { call: 'WebFetch', input: { url: 'http://b.invalid/' } },
      ],
      [edit],
      'Well.',
    ])
    await it.shows('(1 more waits)')
    await it.shows('│ WebFetch(url:http://a.invalid/)')
    it.keys('n', 'Enter')
    await it.shows('│ WebFetch(url:http://b.invalid/)')
    it.keys('n', 'Enter')
    await it.shows('May #4 Edit run?')
    await it.shows('- two')
    await it.shows('+ TWO')
    it.keys('y')
    expect(await it.ended()).toBe(0)
    expect(readFileSync(join(it.place, 'a.txt'), 'utf8')).toContain('TWO')
  })

  it('a command that is taller than the screen must be read to its end before yes counts', async () => {
    const lines = Array.from({ length: 60 }, (_, index) => `touch f${index}`).join('\n')
    const it = open([[bash(`${lines} #\rls`)], 'Well.'])
    await it.shows('show more: you can answer yes after the end was shown')
    await it.shows('│ touch f0')
    it.keys('y')
    it.keys('End')
    await it.shows('│ touch f59 #⟨CR⟩ls')
    expect(existsSync(join(it.place, 'f0'))).toBe(false)
    it.keys('y')
    expect(await it.ended()).toBe(0)
    expect(existsSync(join(it.place, 'f58'))).toBe(true)
  })

  it('Ctrl+C once interrupts: calls that must not be interrupted finish', async () => {
    const it = open([[waitFor('go'), read], 'Never said.'], anything)
    await it.shows('│ waiting')
    it.keys('C-c')
    await it.shows('Interrupted: calls that must not')
    it.make('go')
    expect(await it.ended()).toBe(130)
    expect(it.history()).toContain('✓ #1 Bash')
    expect(await isValid(it.transcript)).toBe(true)
  })

  it('three times exits at once, and restores the terminal', async () => {
    const it = open([[bash(`trap '' TERM; echo here; while :; do sleep 0.05; done`), read], 'Never said.'], anything)
    await it.shows('│ here')
    expect(it.isCursorShown()).toBe(false)
    it.keys('C-c', 'C-c', 'C-c')
    expect(await it.ended()).toBe(130)
    expect(it.isCursorShown()).toBe(true)
    expect(await isValid(it.transcript)).toBe(true)
  })

  it('an interrupt answers an open question', async () => {
    const it = open([[bash('touch made')], 'Never said.'])
    await it.shows('May #1 Bash run?')
    it.keys('C-c')
    expect(await it.ended()).toBe(130)
    expect(existsSync(join(it.place, 'made'))).toBe(false)
    expect(await isValid(it.transcript)).toBe(true)
  })

  it('works at 40 columns, through resizes, with wide characters and hostile output', async () => {
    const evil = `printf '\\033]0;evil\\007\\033[2J\\033[1;1H漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字\\n'`
    const turns = [
      [
        `${'A line.\n'.repeat(30)}First 漢字 words.\n`,
        bash(`${evil}; touch begun; while [ ! -e go ]; do sleep 0.05; done`),
        read,
        read,
      ],
      'Last words.',
    ]
    const it = open(turns, anything, 40, 30)
    const title = it.title()
    await it.shows('│ 漢字漢字')
    for (const columns of [60, 30, 100, 40]) {
      it.resize(columns, 30)
      await it.shows(columns >= 60 ? '· waits for #1 Bash, which must run alone' : '    waits for #1 Bash, which')
      // tmux reports several sizes in a row only after a while
      const from = secondsOn(it.screen())
      await expect.poll(() => secondsOn(it.screen()), { interval: 40 }).toBeGreaterThan(from + 0.5)
      // no older picture is left, however the terminal wrapped its lines
      await expect.poll(() => it.history().match(/[◌⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] #\d/g)?.length, { timeout: 10_000 }).toBe(3)
    }
    it.make('go')
    expect(await it.ended()).toBe(0)
    const all = it.history()
    for (const once of ['> Go.', 'First 漢字 words.', '✓ #1 Bash', '✓ #2 Read', '✓ #3 Read', 'Last words.']) {
      expect([once, all.split(once).length - 1]).toEqual([once, 1])
    }
    expect(it.title()).toBe(title)
    for (const line of it.screen().split('\n')) expect([...line].length).toBeLessThanOrEqual(40)
  })

  it('leaves no old picture behind, however fast the terminal changes its size', async () => {
    const busy = bash('echo one; touch begun; while [ ! -e go ]; do sleep 0.05; done')
    const it = open([[`${'A line.\n'.repeat(30)}`, busy, read, read, read], 'Last words.'], anything, 100, 30)
    await it.shows('#4 Read(a.txt) · waits for #1 Bash')
    for (let round = 0; round < 3; round++) {
      for (const columns of [60, 30, 90, 25, 70, 40]) it.resize(columns, 30)
      const from = secondsOn(it.screen())
      await expect.poll(() => secondsOn(it.screen()), { interval: 40 }).toBeGreaterThan(from + 0.5)
      // a busy machine draws the last size late, but an old picture would stay
      await expect.poll(() => it.history().match(/[◌⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] #\d/g)?.length, { timeout: 10_000 }).toBe(4)
    }
    it.make('go')
    expect(await it.ended()).toBe(0)
    for (const once of ['> Go.', '✓ #1 Bash', '✓ #2 Read', '✓ #3 Read', '✓ #4 Read', 'Last words.']) {
      expect([once, it.history().split(once).length - 1]).toEqual([once, 1])
    }
    expect(it.history().split('A line.')).toHaveLength(31)
  })

  it('the demo ends by itself, answers its own question, and says what to try next', async () => {
    const it = openTerminal(['env', `TMPDIR=${folder}`, process.execPath, cli, 'demo', '--fast'], 100, 40)
    await it.shows('May #10 Bash run?')
    await it.shows(/yes by itself in \d s/)
    expect(await it.ended()).toBe(0)
    const all = it.history()
    expect(all).toContain('✓ #10 Bash(touch released.txt)')
    expect(all).toContain('What to try next')
    expect(all).toMatch(/replay \S+recording\.jsonl/)
  })

  it('replays a recording; space pauses, q ends', async () => {
    const recording = join(folder, 'r.jsonl')
    const live = open([['I look.\n', read, waitFor('go')], 'Done.'], [...anything, '--record', recording])
    await live.shows('│ waiting')
    live.make('go')
    expect(await live.ended()).toBe(0)
    const slowly = openTerminal([process.execPath, cli, 'replay', recording, '--speed', '0.02'], 80, 24)
    await slowly.shows('▶')
    slowly.keys('Space')
    await slowly.shows('⏸')
    slowly.keys('Space')
    await slowly.shows('▶')
    slowly.keys('q')
    expect(await slowly.ended()).toBe(0)
    const quickly = openTerminal([process.execPath, cli, 'replay', recording, '--speed', '20'], 80, 24)
    expect(await quickly.ended()).toBe(0)
    const finished = (text: string) => text.split('\n').filter((line) => /^[✓>·]|^Done|^I look/.test(line))
    expect(finished(quickly.history())).toEqual(finished(live.history()))
  })
})
