import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createTools, openTools } from '../src/index.ts'
import { nodeFileSystem } from '../src/workspace/node-file-system.ts'
import { scratch } from './bench.ts'

/** What a tool names as the resources of a call. */
function resourcesIn(root: string, tools = createTools({ root }).tools) {
  return (name: string, input: Record<string, unknown>) =>
    tools.find((tool) => tool.name === name)?.resources?.(input as never, {} as never)
}

it('K8 files by their real path, folders with everything in them, pages by their URL, commands by nothing', () => {
  const root = scratch({ 'a.txt': 'one', 'sub/b.txt': 'two' })
  const of = resourcesIn(root)
  expect(of('Read', { file_path: 'a.txt' })).toEqual({ reads: [`file:${root}/a.txt`] })
  expect(of('Write', { file_path: 'new/c.txt', content: '' })).toEqual({ writes: [`file:${root}/new/c.txt`] })
  expect(of('Edit', { file_path: join(root, 'sub/../a.txt') })).toEqual({ writes: [`file:${root}/a.txt`] })
  expect(of('Glob', { pattern: '*' })).toEqual({ reads: [`file:${root}`, `file:${root}/`] })
  expect(of('Grep', { pattern: 'x', path: 'sub' })).toEqual({ reads: [`file:${root}/sub`, `file:${root}/sub/`] })
  expect(of('WebFetch', { url: 'https://example.com/' })).toEqual({ reads: ['url:https://example.com/'] })
  expect(of('Bash', { command: 'ls' })).toBeUndefined()
})

it('K8 a link has the key of the file that it leads to, also where the rest does not exist yet', () => {
  const root = scratch({ 'real/a.txt': 'one' })
  symlinkSync('real', join(root, 'link'))
  mkdirSync(join(root, 'other'))
  const of = resourcesIn(root)
  expect(of('Edit', { file_path: 'link/a.txt' })).toEqual({ writes: [`file:${root}/real/a.txt`] })
  expect(of('Write', { file_path: 'link/new/b.txt', content: '' })).toEqual({ writes: [`file:${root}/real/new/b.txt`] })
})

it('K8 a file system without a synchronous realpath uses the path as it is written', async () => {
  const root = scratch({ 'a.txt': 'one' })
  const { realpathSync: _none, ...fileSystem } = nodeFileSystem
  const { tools, close } = await openTools({ root, fileSystem, shell: false })
  expect(resourcesIn(root, tools)('Read', { file_path: './a.txt' })).toEqual({ reads: [`file:${root}/a.txt`] })
  await close()
})
