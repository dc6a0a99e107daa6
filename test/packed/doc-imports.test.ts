import { readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { builtProject } from '../../scripts/built-project.mjs'
import { root } from '../support/imports.ts'
import { emptyProject, strictly } from './empty-project.ts'

const below = (folder: string, name: RegExp): string[] =>
  readdirSync(join(root, folder))
    .filter((each) => name.test(each))
    .map((each) => `${folder}/${each}`)
const pages = [
  'README.md',
  ...below('docs', /\.md$/),
  ...below('packages', /^[^.]+$/).map((each) => `${each}/README.md`),
]

it('every import in README and docs names an entry of a package, and an export of it', () => {
  const project = emptyProject()
  symlinkSync(join(builtProject(), 'node_modules'), join(project.folder, 'node_modules'))
  let count = 0
  for (const page of pages) {
    for (const [, code = ''] of readFileSync(join(root, page), 'utf8').matchAll(/```ts\n([\s\S]*?)```/g)) {
      const imports = [...code.matchAll(/^import (?:type )?\{[^}]*\} from '@?signalbox[^']*'$/gm)].map(([line]) => line)
      if (imports.length === 0) continue
      project.write(`${page.replaceAll(/\W/g, '-')}-${++count}.ts`, `${imports.join('\n')}\n`)
    }
  }
  expect(count).toBeGreaterThan(25)
  const compilerOptions = { ...strictly, noEmit: true, skipLibCheck: true }
  project.write('tsconfig.json', JSON.stringify({ compilerOptions, include: ['*.ts'] }))
  expect(project.compile('-p', 'tsconfig.json')).toBe('')
})
