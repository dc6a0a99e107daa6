import { describe, expect, it } from 'vitest'
import { wholeLabel } from '../../inspector-app/src/model/whole-label.ts'
import { plainText, visibleText } from '../../inspector-app/src/plain-text.ts'
import { describeCall } from '../../src/tool/describe-call.ts'

const labelled = (name: string, input: Record<string, string>) =>
  wholeLabel({ name, input, label: describeCall(undefined, name, input) })

describe('the label of a call', () => {
  it('T10 has the end of a long path, which the short label lost', () => {
    const path = '/home/somebody/projects/shop/packages/cart/src/price.ts'
    expect(describeCall(undefined, 'Read', { file_path: path })).not.toContain('price.ts')
    expect(labelled('Read', { file_path: path })).toBe(`Read(${path})`)
  })

  it('loses the middle of a very long path, and the end of a very long command', () => {
    const path = labelled('Read', { file_path: `/start/${'folder/'.repeat(100)}end.ts` })
    expect(path).toMatch(/^Read\(\/start\/(?:.*)…(?:.*)\/end\.ts\)$/)
    expect(path.length).toBeLessThan(120)
    const command = labelled('Bash', { command: `cd /start && ${'echo a/b '.repeat(100)}` })
    expect(command).toMatch(/^Bash\(cd \/start && (?:echo a\/b )+.*…\)$/)
    expect(command.length).toBeLessThan(120)
  })

  it('stays as it is if the input does not continue it, such as one that is hidden', () => {
    const label = `Read(${'x'.repeat(40)}…)`
    for (const input of ['(withheld)', null, [], {}, { file_path: 'other' }, { file_path: { $: 'withheld' } }])
      expect(wholeLabel({ name: 'Read', label, input })).toBe(label)
  })
})

describe('a text for approvals', () => {
  it('P6 codes hidden characters once, also where the page coded some before', () => {
    const given = 'rm \u202Efoo\u200B and раypal'
    const shown = visibleText(plainText(given))
    expect(shown).toContain('⟨U+202E⟩foo⟨U+200B⟩')
    expect(shown).not.toContain('U+27E8')
    // letters of two scripts in one word look like one
    expect(shown).not.toContain('раypal')
  })
})
