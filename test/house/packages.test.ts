import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { version } from '../../src/base/version.ts'
import { importsBelow, root, targetOf } from '../support/imports.ts'

interface Manifest {
  readonly name: string
  readonly version: string
  readonly exports: Record<string, unknown>
  readonly dependencies?: Record<string, string>
  readonly peerDependencies?: Record<string, string>
}

const manifestOf = (folder: string): Manifest => JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
const library = manifestOf('.')
const folders = readdirSync(join(root, 'packages')).flatMap((name) =>
  existsSync(join(root, 'packages', name, 'package.json')) ? `packages/${name}` : [],
)
const packages = folders.map((folder) => ({ folder, ...manifestOf(folder) }))

/** Peers of dependencies, and packages that are loaded by a name in a variable. */
const unseen: Record<string, readonly string[]> = {
  '@signalbox/stately-inspect': ['xstate'],
  '@signalbox/xstate-inspect': ['ws'],
  '@signalbox/cli': ['@anthropic-ai/sdk', '@signalbox/bullmq'],
}

/** `@scope/name/sub` is a subpath of `@scope/name`. */
const packageOf = (from: string): string => from.split('/', from.startsWith('@') ? 2 : 1).join('/')

/** The imports of a source besides its own files and Node; `resolve('x')` counts as an import of x. */
const importedBy = (folder: string): string[] => {
  const named = importsBelow(`${folder}/src`).flatMap(({ from }) => (/^(\.|node:)/.test(from) ? [] : from))
  const resolved = readdirSync(join(root, folder, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => [
      ...readFileSync(join(root, folder, 'src', name), 'utf8').matchAll(/\bresolve\('([^'./][^']*)'\)/g),
    ])
    .map(([, from]) => from as string)
  return [...new Set([...named, ...resolved])]
}

it('the library knows its own version', () => {
  expect(version).toBe(library.version)
})

describe.each(packages)('$name', ({ folder, name, dependencies = {}, peerDependencies = {} }) => {
  const imported = importedBy(folder)

  it('uses the library by its public entries only', () => {
    const entries = Object.keys(library.exports).map((path) => `signalbox${path.slice(1)}`)
    expect(imported.filter((from) => packageOf(from) === 'signalbox' && !entries.includes(from))).toEqual([])
    const outside = importsBelow(`${folder}/src`).filter(
      (each) => each.from.startsWith('.') && !targetOf(each).startsWith(`${folder}/src/`),
    )
    expect(outside).toEqual([])
  })

  it('has the library as a peer; only the command line has it as a dependency', () => {
    const [here, there] =
      name === '@signalbox/cli' ? [dependencies, peerDependencies] : [peerDependencies, dependencies]
    expect(here.signalbox).toBe(`^${library.version}`)
    expect(there).not.toHaveProperty('signalbox')
  })

  it('declares what it imports, and only that', () => {
    const declared = Object.keys({ ...dependencies, ...peerDependencies })
    expect(imported.map(packageOf).filter((each) => !declared.includes(each))).toEqual([])
    const used = new Set([...imported.map(packageOf), ...(unseen[name] ?? [])])
    expect(declared.filter((each) => !used.has(each) && each !== 'signalbox')).toEqual([])
  })

  it('names the current versions of its siblings', () => {
    for (const sibling of packages) {
      const range = dependencies[sibling.name]
      if (range !== undefined) expect(range).toBe(`^${sibling.version}`)
    }
  })
})

describe('the packages together', () => {
  it('are built in the order in which they need each other', () => {
    const order: string[] = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).workspaces
    expect([...order].sort()).toEqual([...folders].sort())
    const place = new Map(packages.map(({ folder, name }) => [name, order.indexOf(folder)]))
    for (const { name, dependencies = {} } of packages) {
      for (const needed of Object.keys(dependencies)) expect(place.get(needed) ?? -1).toBeLessThan(place.get(name) ?? 0)
    }
  })

  it('the library depends on xstate alone', () => {
    expect(Object.keys(library.dependencies ?? {})).toEqual(['xstate'])
  })

  it('the command line is not bundled', () => {
    expect(readFileSync(join(root, 'packages/cli/package.json'), 'utf8')).toContain('tsc -p tsconfig.build.json"')
  })
})
