import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fold, readNote, readNotes } from '../../scripts/changelog.mjs'
import { root } from '../support/imports.ts'

const note = (packages: string, body: string) => readNote('x.md', `---\n${packages}\n---\n\n${body}\n`)

describe('change notes', () => {
  it('are all readable, and name packages that exist', () => {
    const names = ['signalbox', ...readdirSync(join(root, 'packages')).map((name) => `@signalbox/${name}`)]
    const unknown = readNotes(join(root, '.changeset')).flatMap(({ packages }) =>
      packages.filter((each) => !names.includes(each)),
    )
    expect(unknown).toEqual([])
  })

  it('go into the section Unreleased by kind, after what is there', () => {
    const first = note('"signalbox": minor', 'Added: `a`.\n\n```ts\na()\n```\n\nFixed: b is right.')
    const second = note('"@signalbox/tools": patch', 'Fixed: c is right.')
    const once = fold('# Changes\n\n## 0.1.0\n\nThe first.\n', [first])
    expect(fold(once, [second])).toMatchInlineSnapshot(`
      "# Changes

      ## Unreleased

      ### Added

      - \`a\`.

        \`\`\`ts
        a()
        \`\`\`

      ### Fixed

      - B is right.
      - \`@signalbox/tools\`: C is right.

      ## 0.1.0

      The first.
      "
    `)
  })

  it.each([
    ['no head', 'expected a head'],
    ['---\nsignalbox\n---\n\nAdded: x', 'expected "package": major, minor or patch, received signalbox'],
    ['---\nsignalbox: minor\n---\n\nBetter: x', 'expected Added, Changed, Fixed, Removed'],
  ])('that are invalid are rejected: %j', (text, problem) => {
    expect(() => readNote('x.md', text)).toThrow(problem)
  })

  it('have a changelog whose sections say what was added, changed or fixed', () => {
    const [, ...sections] = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').split(/^## /m)
    expect(sections.length).toBeGreaterThan(0)
    for (const section of sections) {
      const kinds = [...section.matchAll(/^### (.*)$/gm)].map(([, kind]) => kind)
      expect(kinds.length).toBeGreaterThan(0)
      expect(kinds.filter((kind) => !/^(Added|Changed|Fixed|Removed)$/.test(kind ?? ''))).toEqual([])
    }
  })
})
