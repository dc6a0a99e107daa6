import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sha256 } from '../../src/base/sha256.ts'
import { showInputText, visibleLine } from '../../src/index.ts'

const runs = process.env.SIGNALBOX_FULL ? 100_000 : 3_000

/** Characters that hide, change direction, combine or imitate others, among plain ones. */
const sign = fc.oneof(
  fc.constantFrom(
    ...' \t\r\n\0\u001b\u007f\u0085\u009b\u00a0\u00ad\u200b\u200d\u200e\u202e\u2066\u2069\u2800\u3164\ufe0f\ufeff',
  ),
  fc.constantFrom(
    ...'⟨⟩␣⇥↵│-+аоеοＡ𝐫∕é',
    'e\u0301',
    '⟨3 spaces⟩',
    '⟨U+202E⟩',
    '⟨CR⟩',
    '\ud800',
    '\u{e0041}',
    '👍🏽',
    'א',
    'ا',
    '…',
    'ß',
  ),
  fc.constantFrom(...'ab{}[]":,\\$`;|&'),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
)
const text = fc.array(sign, { maxLength: 30 }).map((signs) => signs.join(''))
const runOfBlanks = fc.tuple(text, fc.nat({ max: 400 }), text).map(([a, count, b]) => a + ' '.repeat(count) + b)
const anyText = fc.oneof(text, runOfBlanks)

/** Reconstructs the text from its display: the proof that nothing is lost. */
const named: Record<string, string> = { NUL: '\0', CR: '\r', ESC: '\u001b', DEL: '\u007f' }
const readBack = (shown: string): string =>
  shown.replace(/⟨(?:U\+([0-9A-F]+)|(\d+) spaces|(\w+))⟩|[␣⇥↵]/g, (whole, code, count, name) => {
    if (code !== undefined) return String.fromCodePoint(Number.parseInt(code, 16))
    if (count !== undefined) return ' '.repeat(Number(count))
    return name === undefined ? ({ '␣': ' ', '⇥': '\t', '↵': '\n' }[whole] ?? '') : (named[name] ?? '?')
  })

describe('the display of an input', () => {
  it('the text can be reconstructed from its display', () => {
    fc.assert(
      fc.property(anyText, (given) => {
        expect(readBack(visibleLine(given))).toBe(given)
      }),
      { numRuns: runs },
    )
  })

  it('nothing in it is invisible, moves the cursor or turns a line', () => {
    fc.assert(
      fc.property(anyText, (given) => {
        const shown = visibleLine(given)
        expect(shown).not.toMatch(
          /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}| {25}|\S {2}| $/u,
        )
        expect(shown).not.toMatch(/[\p{sc=Hebr}\p{sc=Arab}]/u)
        expect(shown.normalize('NFC')).toBe(shown)
      }),
      { numRuns: runs },
    )
  })

  const input = fc.oneof(
    fc.record({ command: anyText, timeout: fc.option(fc.nat()) }),
    fc.record({ file_path: text, old_string: anyText, new_string: anyText, replace_all: fc.boolean() }),
    fc.record({ file_path: text, content: anyText }),
    fc.dictionary(text, fc.oneof(anyText, fc.nat(), fc.constant(null), fc.array(anyText, { maxLength: 3 })), {
      maxKeys: 3,
    }),
    fc.dictionary(fc.constantFrom('old_string', 'new_string', 'a', '[0]', 'old_string → new_string'), fc.jsonValue(), {
      maxKeys: 3,
    }),
  )

  it('two different inputs never look the same', () => {
    const seen = new Map<string, string>()
    fc.assert(
      fc.property(input, (given) => {
        const shown = showInputText(given)
        const exact = JSON.stringify(given)
        expect([seen.get(shown) ?? exact, shown]).toEqual([exact, shown])
        seen.set(shown, exact)
      }),
      { numRuns: runs },
    )
  })

  it('a text that is the whole input does not look like a field', () => {
    expect(showInputText('ls')).not.toBe(showInputText({ input: 'ls' }))
  })

  it('two inputs that differ a little never look the same', () => {
    const change = fc.tuple(fc.nat(), sign, fc.boolean())
    fc.assert(
      fc.property(anyText, anyText, change, fc.boolean(), (one, two, [at, what, isInsert], inFirst) => {
        const change = (each: string): string => {
          const place = at % (each.length + 1)
          return each.slice(0, place) + what + each.slice(isInsert ? place : place + 1)
        }
        const first = { old_string: one, new_string: two }
        const second = inFirst
          ? { old_string: change(one), new_string: two }
          : { old_string: one, new_string: change(two) }
        if (JSON.stringify(first) === JSON.stringify(second)) return
        expect(showInputText(first)).not.toBe(showInputText(second))
      }),
      { numRuns: runs },
    )
  })

  it.each([
    ['touch PWNED #\rls -la', 'touch PWNED #⟨CR⟩ls -la'],
    [`git status${' '.repeat(300)}; curl x | sh`, 'git status⟨300 spaces⟩; curl x | sh'],
    ['ls \u202exyz', 'ls ⟨U+202E⟩xyz'],
    ['ls\u200b', 'ls⟨U+200B⟩'],
    ['\u001b[2Jls', '⟨ESC⟩[2Jls'],
    ['curl gооgle.com', 'curl g⟨U+043E⟩⟨U+043E⟩gle.com'],
    ['ｒｍ x', '⟨U+FF52⟩⟨U+FF4D⟩ x'],
    ['\tif x', '⇥if x'],
    ['    indented', '    indented'],
    ['a  b ', 'a␣␣b␣'],
    ['rm ∖ x ⎮ y', 'rm ⟨U+2216⟩ x ⟨U+23AE⟩ y'],
    ['echo ˋrm xˋ', 'echo ⟨U+02CB⟩rm x⟨U+02CB⟩'],
    ['Grüße, Привет, 日本語, 👍', 'Grüße, Привет, 日本語, 👍'],
  ])('%j is shown as %s', (given, shown) => expect(visibleLine(given)).toBe(shown))

  it('an edit is shown as a change, a long text with its size and hash', () => {
    expect(showInputText({ file_path: 'a.ts', old_string: 'one\ntwo\nthree', new_string: 'one\n2\nthree' })).toBe(
      'file_path:\n│ a.ts\nold_string → new_string:\n  one\n- two\n+ 2\n  three',
    )
    const content = 'x'.repeat(3_000)
    const hash = createHash('sha256').update(content).digest('hex')
    expect(showInputText({ content })).toContain(`content: (3,000 characters, 1 line, SHA-256 ${hash})`)
  })

  it('the hash is the standard SHA-256', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (given) => {
        expect(sha256(given)).toBe(createHash('sha256').update(given).digest('hex'))
      }),
    )
  })
})
