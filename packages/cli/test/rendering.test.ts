import stringWidth from 'string-width'
import { describe, expect, it } from 'vitest'
import { activeCall, type Canvas, finishedCall } from '../src/view/call-lines.ts'
import type { CallView } from '../src/view/call-view.ts'
import { colorsFor, hasColors } from '../src/view/colors.ts'
import { cut, wrap } from '../src/view/fit.ts'
import { liveView } from '../src/view/live-view.ts'
import { plainView } from '../src/view/plain-view.ts'
import { saidLines } from '../src/view/said-lines.ts'
import type { SessionView } from '../src/view/session-view.ts'
import { seenTurn } from './seen-turn.ts'

const noColors = colorsFor({}, { NO_COLOR: '1' })
const canvasOf = (columns: number, env: Record<string, string> = { NO_COLOR: '1' }): Canvas => ({
  columns,
  colors: colorsFor({ isTTY: true }, env),
  now: 0,
})
const callsOf = (session: SessionView) => session.items.filter((item): item is CallView => item.kind === 'call')
const drawn = (session: SessionView, canvas: Canvas): string[] =>
  callsOf(session).flatMap((call) => {
    if (call.result !== undefined) return finishedCall(call, session, canvas)
    const { head, tail } = activeCall(call, session, canvas)
    return [...head, ...tail]
  })

/** A terminal that records what is written to it. */
function terminal(columns: number, rows = 24) {
  const written: string[] = []
  const out = { columns, rows, isTTY: true, write: (text: string) => written.push(text), on: () => out, off: () => out }
  return { written, out: out as unknown as NodeJS.WriteStream }
}

async function busyTurn() {
  const turn = seenTurn()
  turn.add('a', 'Bash', { command: 'npm run a-script-with-quite-a-long-name -- --and-options' })
  turn.add('b', 'Read', { file_path: 'src/漢字漢字漢字漢字/😀😀😀😀.ts' })
  turn.add('c', 'Edit', { file_path: 'a.ts' })
  for (let line = 1; line <= 9; line++)
    turn.Bash.run('a').progress({ type: 'bash_output', text: `${'漢'.repeat(90)} ${line}\n` })
  await turn.settle()
  return turn
}

describe('the lines of calls', () => {
  it.each([40, 80, 120])('never exceed %i columns, with colours and wide characters', async (columns) => {
    const turn = await busyTurn()
    for (const env of [{ NO_COLOR: '1' }, { FORCE_COLOR: '1' }]) {
      const lines = drawn(turn.session, canvasOf(columns, env as unknown as Record<string, string>))
      expect(lines.length).toBeGreaterThan(6)
      for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(columns)
    }
  })

  it('have the expected text at 80 columns', async () => {
    const turn = await busyTurn()
    expect(drawn(turn.session, canvasOf(80))).toEqual([
      '⠋ #1 Bash(npm run a-script-with-quite-a-long-name …) · runs 0 ms',
      '  │ … 6 lines above',
      ...[7, 8, 9].map(() => `  │ ${'漢'.repeat(37)}…`),
      '◌ #2 Read(src/漢字漢字漢字漢字/😀😀😀😀.ts)',
      '    waits for #1 Bash, which must run alone',
      '◌ #3 Edit(a.ts) · waits for #1 Bash, which must run alone',
    ])
  })

  it('show a diff for an edit, with and without colours', async () => {
    const turn = seenTurn()
    turn.add('a', 'Edit', { file_path: 'a.ts' })
    turn.Edit.run('a').finish({ data: 'Changed a.ts:\n--- a.ts\n+++ a.ts\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO' })
    await turn.settle()
    expect(drawn(turn.session, canvasOf(80))).toEqual([
      '✓ #1 Edit(a.ts) · 0 ms',
      '  │ @@ -1,2 +1,2 @@',
      '  │  one',
      '  │ -two',
      '  │ +TWO',
    ])
    const inColours = drawn(turn.session, canvasOf(80, { FORCE_COLOR: '1' })).join('\n')
    expect(inColours).toContain('\u001b[31m-two')
    expect(inColours).toContain('\u001b[32m+TWO')
  })

  it('truncate long output, with the number of missing lines', async () => {
    const turn = seenTurn()
    turn.add('a', 'Bash', { command: 'seq 200' })
    const data = Array.from({ length: 200 }, (_, index) => index + 1).join('\n')
    turn.Bash.run('a').finish({ data })
    await turn.settle()
    expect(drawn(turn.session, canvasOf(80)).slice(1)).toEqual([
      '  │ 1',
      '  │ 2',
      '  │ 3',
      '  │ … 195 more lines',
      '  │ 199',
      '  │ 200',
    ])
  })

  it('contain no control sequences of a hostile result', async () => {
    const turn = seenTurn()
    turn.add('a', 'Bash', { command: '\u001b]0;evil\u0007echo \u001b[2J' })
    turn.Bash.run('a').progress({ type: 'bash_output', text: '\u001b[1;1Hhere\u001b]0;evil\u0007' })
    await turn.settle()
    const before = drawn(turn.session, canvasOf(80)).join('')
    turn.Bash.run('a').finish({ data: '\u001b[3Jgone\u009b2J\u001b]52;c;evil\u0007' })
    await turn.settle()
    const after = drawn(turn.session, canvasOf(80)).join('')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it is these that must be gone
    expect(before + after).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/)
    expect(before).toContain('here')
    expect(after).toContain('gone')
  })
})

describe('the live view', () => {
  it('writes finished parts once, in order, and redraws the rest in place', async () => {
    const turn = seenTurn()
    const { out, written } = terminal(80)
    const view = liveView(turn.session, { out, colors: noColors, now: turn.now })
    turn.say('Let me see.\n')
    turn.add('a', 'Read', { file_path: 'a.ts' })
    turn.add('b', 'Grep', { pattern: 'x' })
    turn.Grep.run('b').finish()
    await turn.settle()
    turn.Read.run('a').finish()
    await turn.settle()
    view.end()
    const all = written.join('')
    expect(all.split('✓ #1 Read').length).toBe(2)
    expect(all.indexOf('Let me see.')).toBeLessThan(all.indexOf('✓ #1 Read(a.ts)'))
    expect(all.indexOf('✓ #1 Read(a.ts)')).toBeLessThan(all.indexOf('✓ #2 Grep(x)'))
    expect(all.endsWith('\u001b[?25h')).toBe(true)
  })

  it('rewrites only what changed', async () => {
    const turn = seenTurn()
    const { out, written } = terminal(80)
    const view = liveView(turn.session, { out, colors: noColors, now: turn.now })
    turn.add('a', 'Read', { file_path: 'a.ts' }, { hold: true })
    turn.add('b', 'Read', { file_path: 'b.ts' })
    const draw = async () => {
      view.changed()
      await new Promise(setImmediate)
    }
    await draw()
    turn.pass(500)
    await draw()
    expect(written).toHaveLength(2)
    expect(written[1]).toContain('#2 Read(b.ts) · runs 0.5 s')
    expect(written[1]).not.toContain('#1 Read')
    await draw()
    expect(written).toHaveLength(2)
    view.end()
  })

  it('never draws more than the terminal has rows, whatever runs', async () => {
    const turn = seenTurn({ maxConcurrency: 100 })
    const { out, written } = terminal(40, 10)
    const view = liveView(turn.session, { out, colors: noColors, now: turn.now, footer: () => ['', 'May it?', 'y  n'] })
    for (let index = 0; index < 60; index++) turn.add(`r${index}`, 'Read', { file_path: `${index}.ts` })
    view.changed()
    await new Promise(setImmediate)
    const picture = written.at(-1) ?? ''
    expect(picture.split('\n').length - 1).toBeLessThanOrEqual(9)
    expect(picture).toContain('more calls')
    expect(picture).toContain('y  n')
    view.end()
  })

  it('keeps unfinished calls as they were last drawn', async () => {
    const turn = seenTurn()
    const { out, written } = terminal(80)
    const view = liveView(turn.session, { out, colors: noColors, now: turn.now })
    turn.add('a', 'Bash', { command: 'sleep 9' })
    await turn.settle()
    view.end()
    expect(written.at(-2)).toContain('#1 Bash(sleep 9) · runs')
  })
})

describe('without a terminal', () => {
  it('prints one line per change, nothing twice, nothing redrawn', async () => {
    const turn = seenTurn()
    let log = ''
    const view = plainView(turn.session, (text) => (log += text), noColors)
    const tick = async () => {
      view.changed()
      await new Promise(setImmediate)
    }
    turn.say('Let me ')
    await tick()
    turn.say('see.\nAnd ')
    await tick()
    turn.say('more.')
    turn.add('a', 'Read', { file_path: 'a.ts' })
    turn.add('b', 'Edit', { file_path: 'b.ts' })
    await tick()
    await tick()
    turn.say('Meanwhile.')
    turn.Read.run('a').finish()
    await turn.settle()
    await tick()
    turn.Edit.run('b').finish()
    await turn.settle()
    await tick()
    view.end()
    expect(log.split('\n')).toEqual([
      'Let me see.',
      'And more.',
      '· #1 Read(a.ts) · runs',
      '· #2 Edit(b.ts) · must run alone, waits for #1 Read',
      '✓ #1 Read(a.ts) · 0 ms, 1 line',
      '· #2 Edit(b.ts) · runs',
      '✓ #2 Edit(b.ts) · 0 ms',
      '  │ b done',
      'Meanwhile.',
      '',
    ])
  })
})

describe('the small parts', () => {
  it('shows the beginning of a long prompt, and all text of a model', () => {
    const text = Array.from({ length: 50 }, (_, index) => `line ${index + 1}`).join('\n')
    const lines = saidLines({ by: 'user', text }, canvasOf(40))
    expect([lines.length, lines[0], lines.at(-1)]).toEqual([9, '> line 1', '  … 42 more lines'])
    expect(saidLines({ by: 'model', text }, canvasOf(40))).toHaveLength(50)
  })

  it('truncates by columns and wraps between words', () => {
    expect(cut('漢字漢字', 5)).toBe('漢字…')
    expect(cut('abc', 3)).toBe('abc')
    expect(wrap('one two three', 7)).toEqual(['one two', 'three'])
    expect(wrap('  indented', 40)).toEqual(['  indented'])
  })

  it.each([
    [{}, true, true],
    [{}, false, false],
    [{ NO_COLOR: '1' }, true, false],
    [{ NO_COLOR: '1', FORCE_COLOR: '1' }, true, false],
    [{ FORCE_COLOR: '1' }, false, true],
    [{ FORCE_COLOR: '0' }, true, false],
    [{ TERM: 'dumb' }, true, false],
  ])('with %j and a terminal: %j, colours: %j', (env, isTTY, expected) => {
    expect(hasColors({ isTTY }, env as Record<string, string>)).toBe(expected)
  })
})
