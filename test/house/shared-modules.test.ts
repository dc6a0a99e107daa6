import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from '../support/imports.ts'

const folders = ['test', ...readdirSync(join(root, 'packages')).map((name) => `packages/${name}/test`)]
const files = folders
  .filter((folder) => existsSync(join(root, folder)))
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
  )
  .filter((name) => name.endsWith('.ts') && !name.includes('/node_modules/'))
  .map((name) => ({ name, text: readFileSync(join(root, name), 'utf8') }))

describe('test files that share their modules', () => {
  it('use no helper that registers hooks when it is loaded: only the first file would get them', () => {
    const hooks = /^(?:beforeAll|beforeEach|afterAll|afterEach|onTestFinished)\(/m
    const found = files.filter(({ name, text }) => !name.endsWith('.test.ts') && hooks.test(text))
    // a setup file is loaded for each test file
    expect(found.map(({ name }) => name)).toEqual(['test/support/validated-requests.ts'])
  })

  it('replace and reload none: those that do are listed', () => {
    const config = readFileSync(join(root, 'vite.config.ts'), 'utf8')
    const found = files.filter(
      ({ name, text }) => name.endsWith('.test.ts') && /\bvi\.(mock|doMock|resetModules)\(/.test(text),
    )
    expect(found.length).toBeGreaterThan(5)
    expect(found.map(({ name }) => name).filter((name) => !config.includes(`'${name}'`))).toEqual([])
  })
})
