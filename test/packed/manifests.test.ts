import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from '../support/imports.ts'
import { tarballOf } from './empty-project.ts'

const folders = [
  '.',
  ...readdirSync(join(root, 'packages')).flatMap((name) =>
    existsSync(join(root, 'packages', name, 'package.json')) ? `packages/${name}` : [],
  ),
]
const packages = folders.map((folder) => ({
  folder,
  manifest: JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')),
}))

const run = (tool: string, ...args: string[]) => {
  const { status, stdout } = spawnSync(join(root, 'node_modules/.bin', tool), args, { encoding: 'utf8' })
  return [status, stdout]
}

describe.each(packages)('$manifest.name', ({ folder, manifest }) => {
  it('has a README, a licence, and says where it lives', () => {
    expect(readFileSync(join(root, folder, 'README.md'), 'utf8').length).toBeGreaterThan(300)
    expect(readFileSync(join(root, folder, 'LICENSE'), 'utf8')).toBe(readFileSync(join(root, 'LICENSE'), 'utf8'))
    const directory = folder === '.' ? {} : { directory: folder }
    expect(manifest.repository).toEqual({
      type: 'git',
      url: expect.stringMatching(/^git\+https:.*\.git$/),
      ...directory,
    })
    expect([manifest.bugs, manifest.homepage]).toEqual([
      expect.stringMatching(/^https:/),
      expect.stringMatching(/^https:/),
    ])
    expect([manifest.description.length > 20, manifest.license, manifest.engines.node]).toEqual([true, 'MIT', '>=20'])
  })

  it('passes publint', () => {
    expect(run('publint', 'run', tarballOf(manifest.name), '--strict')).toEqual([
      0,
      expect.stringContaining('All good!'),
    ])
  })

  it.runIf(manifest.exports['.'] !== undefined)(
    'passes attw: its types are found by every resolution of modules',
    () => {
      // the files for tools have no types; Node before 16 and CommonJS without require(esm) are not supported
      const rules = ['--profile', 'esm-only', '--format', 'ascii', '--no-color']
      const toolFiles = Object.keys(manifest.exports).filter((path) => /package\.json|elk-worker/.test(path))
      const args = [
        tarballOf(manifest.name),
        ...rules,
        '--exclude-entrypoints',
        ...toolFiles.map((path) => path.slice(2)),
      ]
      expect(run('attw', ...args)).toEqual([0, expect.stringContaining('node16 (from ESM): 🟢 (ESM)\nbundler: 🟢')])
    },
  )
})
