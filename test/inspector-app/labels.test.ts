import { describe, expect, it } from 'vitest'
import { plainText, visibleText } from '../../inspector-app/src/plain-text.ts'

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
