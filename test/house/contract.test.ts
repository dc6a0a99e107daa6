import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../..')
const contract = readFileSync(join(root, 'docs/contract.md'), 'utf8')

/** Rules that the contract itself marks as not built yet. */
const ahead = new Set([...contract.matchAll(/^- ([A-Z]\d+[a-z]?) \*\(to come\)\*/gm)].map(([, code]) => code as string))

const codes = [...contract.matchAll(/^- ([A-Z]\d+[a-z]?) /gm)].map(([, code]) => code as string)

const folders = [
  'test',
  ...readdirSync(join(root, 'packages'), { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? `packages/${entry.name}/test` : [],
  ),
]
const titles = folders
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  )
  .filter((name) => name.endsWith('.test.ts'))
  .flatMap((name) => {
    const text = readFileSync(join(root, name), 'utf8')
    // the title of a table of tests follows the table
    return [...text.matchAll(/\b(?:it|test)(?:\.each)?[^'"`]*(['"`])(.*?)\1/g), ...text.matchAll(/\)\((['"`])(.*?)\1/g)]
  })
  .map(([, , title]) => title as string)

describe('the contract', () => {
  it('has rules, each once', () => {
    expect(codes.length).toBeGreaterThan(60)
    expect(new Set(codes).size).toBe(codes.length)
  })

  it.each(codes.filter((code) => !ahead.has(code)))('%s is proved by a test that names it', (code) => {
    expect(titles.filter((title) => new RegExp(`\\b${code}\\b`).test(title)).length).toBeGreaterThan(0)
  })
})
