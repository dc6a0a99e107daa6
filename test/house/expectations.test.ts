import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../..')

/** Wordings of which `src/base/option-rules.ts` has another one for the same expectation. */
const others: readonly (readonly [found: RegExp, instead: string])[] = [
  [/whole number|positive integer/, 'an integer of at least 1'],
  [/positive number/, 'a number above 0'],
  [/(integer|number) from \d+(?! to )/, 'an integer of at least 1'],
  [/(a number of|some) milliseconds|milliseconds, at least/, 'milliseconds; at least 1000 milliseconds'],
  [/a text(?! block)\b/, 'a string'],
  [/(text|string) that is not empty/, 'a non-empty string'],
  [/a boolean/, 'true or false'],
  [/a list\b|list of/, 'an array of keys'],
  [/"\w+" or "\w+"/, "'a' or 'b'"],
]

const packages = readdirSync(join(root, 'packages'), { withFileTypes: true }).filter((each) => each.isDirectory())
const folders = ['src', ...packages.map(({ name }) => `packages/${name}/src`)]
const sources = folders.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => `${folder}/${name}`),
)

/** The words for what is expected: the second argument of the helpers, and what follows `expected` in a message. */
const expectationsIn = (source: string): string[] =>
  [
    ...source.matchAll(/invalid\w*\(\s*[^,()]+,\s*(['"`])(.*?)\1,/gs),
    ...source.matchAll(/()\bexpected (.*?)(?:, (?:received|found)|[`'\n])/gi),
  ].map(([, , words]) => words as string)

describe('errors about options', () => {
  it('have the same words for the same expectation', () => {
    const all = sources.flatMap((file) =>
      expectationsIn(readFileSync(join(root, file), 'utf8')).map((words) => ({ file, words })),
    )
    expect(all.length).toBeGreaterThan(80)
    const wrong = all.flatMap(({ file, words }) =>
      others.filter(([found]) => found.test(words)).map(([, instead]) => `${file}: "${words}", say "${instead}"`),
    )
    expect(wrong).toEqual([])
  })
})
