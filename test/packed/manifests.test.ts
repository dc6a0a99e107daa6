import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
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

const bytesOf = ({ buffer, byteOffset, byteLength }: Buffer): ArrayBuffer =>
  buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer

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

  it('passes publint', async () => {
    const tarball = bytesOf(readFileSync(tarballOf(manifest.name)))
    const { messages, pkg } = await publint({ pack: { tarball }, strict: true })
    expect(pkg.name).toBe(manifest.name)
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([])
  })

  it.runIf(manifest.exports['.'] !== undefined)(
    'passes attw: its types are found by every resolution of modules',
    async () => {
      // the files for tools have no types
      const isForTools = (path: string): boolean => /package\.json|elk-worker/.test(path)
      const excludeEntrypoints = Object.keys(manifest.exports).filter(isForTools)
      const tarball = createPackageFromTarballData(readFileSync(tarballOf(manifest.name)))
      const found = await checkPackage(tarball, { excludeEntrypoints })
      if (found.types === false) throw new Error(`${manifest.name} has no types`)
      // Node before 16 and CommonJS without require(esm) are not supported
      const isIgnored = (resolution: string): boolean => ['node10', 'node16-cjs'].includes(resolution)
      const problems = found.problems.filter(
        (problem) => !('resolutionKind' in problem && isIgnored(problem.resolutionKind)),
      )
      expect(problems).toEqual([])
      for (const { resolutions } of Object.values(found.entrypoints)) {
        expect([
          resolutions['node16-esm'].isWildcard ?? false,
          resolutions['node16-esm'].resolution?.isTypeScript,
        ]).toEqual([false, true])
        expect(resolutions.bundler.resolution?.isTypeScript).toBe(true)
      }
    },
  )
})
