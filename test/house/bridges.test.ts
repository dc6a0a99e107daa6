import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { describe, expect, it, vi } from 'vitest'

const root = resolve(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const npm = (...args: string[]) =>
  execFileSync('npm', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
const packages = ['xstate-inspect', 'stately-inspect'] as const

/** The file that `xstate` resolves to from a folder. */
const xstateSeenFrom = (folder: string) => {
  const path = createRequire(join(root, folder, 'package.json')).resolve('xstate')
  const top = path.slice(0, path.lastIndexOf('node_modules/xstate/') + 'node_modules/xstate/'.length)
  return { path, version: JSON.parse(readFileSync(join(top, 'package.json'), 'utf8')).version as string }
}

describe('the packages for other inspectors', () => {
  it('have their own version of XState, and the library resolves only its own', () => {
    expect(xstateSeenFrom('.').version).toMatch(/^5\.33\./)
    expect(xstateSeenFrom('packages/xstate-inspect').version).toMatch(/^4\.38\./)
    expect(xstateSeenFrom('packages/stately-inspect').path).toBe(xstateSeenFrom('.').path)
  })

  it('install without a flag, with nothing missing, invalid or extraneous', () => {
    expect(existsSync(join(root, '.npmrc'))).toBe(false)
    for (const each of ['.', ...packages.map((name) => `packages/${name}`)]) {
      expect(JSON.parse(read(join(each, 'package.json'))).peerDependencies).not.toHaveProperty('xstate')
    }
    const { problems } = JSON.parse(npm('ls', '--all', '--json'))
    expect(problems ?? []).toEqual([])
  })

  it.each(packages)('%s says what it is, and has its licence', (name) => {
    expect(read(`packages/${name}/LICENSE`)).toBe(read('LICENSE'))
    expect(JSON.parse(read(`packages/${name}/package.json`)).version).toBe(JSON.parse(read('package.json')).version)
  })

  it.each(packages)('%s imports only public entries of the library, and Node only in its server', (name) => {
    const { dependencies } = JSON.parse(read(`packages/${name}/package.json`))
    const folder = `packages/${name}/src`
    const imports = readdirSync(join(root, folder)).flatMap((file) =>
      [...read(join(folder, file)).matchAll(/(?:from|import\(|require\.resolve\()\s*\(?\s*'([^']+)'/g)].map(
        ([, from = '']) => ({
          file,
          from,
        }),
      ),
    )
    expect(imports.length).toBeGreaterThan(8)
    const entries = ['signalbox/inspect', 'signalbox/inspect/server', ...Object.keys(dependencies)]
    const wrong = imports.filter(({ from }) => {
      if (from.startsWith('./')) return false
      return !from.startsWith('node:') && !entries.some((entry) => from === entry || from.startsWith(`${entry}/lib/`))
    })
    expect(wrong).toEqual([])
    /** All files that an entry imports. */
    const reached = (file: string, seen = new Set<string>()): Set<string> => {
      if (seen.has(file)) return seen
      seen.add(file)
      for (const each of imports)
        if (each.file === file && each.from.startsWith('./')) reached(each.from.slice(2), seen)
      return seen
    }
    const outside = imports.filter(({ file, from }) => reached('index.ts').has(file) && /^node:|\/server$/.test(from))
    expect(outside).toEqual([])
  })

  it.each([
    ['xstate-inspect', () => import('../../packages/xstate-inspect/examples/receiver.ts')],
    ['stately-inspect', () => import('../../packages/stately-inspect/examples/receiver.ts')],
  ] as const)('the example of %s runs, and its pages show it and what it prints', async (name, run) => {
    const lines: string[] = []
    vi.spyOn(console, 'log').mockImplementation((...words: unknown[]) => void lines.push(words.join(' ')))
    await run()
    vi.restoreAllMocks()
    // a second try would import nothing and print nothing
    expect(lines).not.toEqual([])
    for (const page of ['docs/inspector.md', `packages/${name}/README.md`]) {
      expect(read(page)).toContain(`\`\`\`ts\n${read(`packages/${name}/examples/receiver.ts`)}\`\`\``)
      expect(read(page)).toContain(`\`\`\`\n${lines.join('\n')}\n\`\`\``)
    }
  })
})
