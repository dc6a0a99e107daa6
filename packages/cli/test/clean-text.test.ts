import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cleanLine, cleanText } from '../src/view/clean-text.ts'

// biome-ignore lint/suspicious/noControlCharactersInRegex: it is these that must be gone
const active = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/

describe('text for the terminal', () => {
  it.each([
    ['a colour', '\u001b[31mred\u001b[0m', 'red'],
    ['a title', '\u001b]0;evil\u0007text', 'text'],
    ['a title that does not end', 'text\u001b]0;evil', 'text'],
    ['a link', '\u001b]8;;http://x\u001b\\text\u001b]8;;\u001b\\', 'text'],
    ['a cleared screen and a moved cursor', '\u001b[2J\u001b[10;10Htext', 'text'],
    ['eight-bit controls', '\u009b31mtext\u009d0;evil\u009c', 'text'],
    ['a bell and a backspace', 'te\u0007x\u0008t', 'text'],
    ['a device request', '\u001bP+q544e\u001b\\text', 'text'],
    ['a lone escape', 'te\u001bxt', 'text'],
    ['a progress bar', '10%\r50%\r100%\nnext', '100%\nnext'],
    ['Windows line ends', 'a\r\nb\r\n', 'a\nb\n'],
    ['a turned direction', 'a\u202etxet\u202c', 'atxet'],
    ['a tab', 'a\tb', 'a    b'],
  ])('%s', (_, text, clean) => expect(cleanText(text)).toBe(clean))

  it('no control sequence is left in any text', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('\u001b[', '\u001b]0;', '\u001b]', '\u009b', '\u0007', '\u001b\\', '\r', '\n', '5A', 'm', 'é漢'),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        expect(active.test(cleanText(pieces.join('')))).toBe(false)
        expect(cleanLine(pieces.join(''))).not.toContain('\n')
      }),
      { numRuns: 300 },
    )
  })

  it('is fast for a long unterminated sequence', () => {
    const text = `${'\u001b]'.repeat(50_000)}${'x'.repeat(1_000_000)}`
    expect(cleanText(text)).toBe('')
    expect(cleanText('\u001b[3'.repeat(100_000)).length).toBeLessThan(300_000)
  })
})
