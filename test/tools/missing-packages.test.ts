import { afterEach, expect, it, vi } from 'vitest'
import { isSignalboxError } from '../../src/index.ts'
import { runTool, scratch } from './bench.ts'

const without = async (name: string): Promise<typeof import('../../src/tools/index.ts')> => {
  vi.resetModules()
  vi.doMock(name, () => {
    throw new Error(`Cannot find package '${name}'`)
  })
  return import('../../src/tools/index.ts')
}

afterEach(() => {
  for (const name of ['unbash', 'ignore', 'picomatch']) vi.doUnmock(name)
  vi.resetModules()
})

it('without unbash there is no shell, and the error says what to install', async () => {
  const { createTools } = await without('unbash')
  let thrown: unknown
  try {
    createTools({ root: scratch() })
  } catch (error) {
    thrown = error
  }
  expect(isSignalboxError(thrown)).toBe(true)
  expect(thrown).toMatchObject({ code: 'missing_package', message: expect.stringContaining('npm install unbash') })
  expect(createTools({ root: scratch(), shell: false }).tools.length).toBeGreaterThan(5)
})

it.each([
  ['picomatch', { pattern: '**' }],
  ['ignore', { pattern: '**' }],
] as const)('without %s the tool that needs it says so, and no other', async (name, input) => {
  const { createTools } = await without(name)
  const root = scratch({ 'a.txt': 'x' })
  const { tools } = createTools({ root, ripgrep: false })
  expect((await runTool(tools, 'Glob', input)).text).toContain(`npm install ${name}`)
  expect((await runTool(tools, 'Read', { file_path: 'a.txt' })).text).toBe('     1\tx')
})

it('without picomatch a rule that denies a path denies, and one that allows does not', async () => {
  const { createTools } = await without('picomatch')
  const root = scratch({ 'a.txt': 'x' })
  const { tools } = createTools({ root })
  const deny = { context: { permissions: { deny: ['Read(b.txt)'] } } }
  expect((await runTool(tools, 'Read', { file_path: 'a.txt' }, deny)).text).toContain('denied by the rule')
  const canUseTool = async () => ({ behavior: 'deny', message: 'asked' }) as const
  const allow = { canUseTool, context: { permissions: { allow: ['Write(b.txt)'] } } }
  expect((await runTool(tools, 'Write', { file_path: 'b.txt', content: '' }, allow)).text).toContain('asked')
})
