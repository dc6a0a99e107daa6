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
  'CONTRIBUTING.md',
  ...below('docs', /\.md$/),
  ...below('packages', /^[^.]+$/).map((each) => `${each}/README.md`),
]

/** What a sample of a few lines may use without declaring it. A sample that declares a name itself hides it here. */
const surroundings = `
import type { CanUseTool, Message, Model, Prices, StreamingToolExecutor as Executor, Tool, BatchContext } from 'signalbox'
import type { JournalStore, openSession as open } from 'signalbox/durable'
type Opened = Awaited<ReturnType<typeof open>>
declare global {
  const { query, defineTool, StreamingToolExecutor }: typeof import('signalbox')
  const { openSession, foldJournal, storedQuestions, postAnswer }: typeof import('signalbox/durable')
  const { serveInspector }: typeof import('signalbox/inspect/server')
  const { fileResultStore }: typeof import('signalbox/node')
  const { postgresJournals }: typeof import('@signalbox/postgres')
  const { createTools }: typeof import('@signalbox/tools')
  const { z }: typeof import('zod')
  const tools: Tool[]
  const model: Model
  const messages: Message[]
  const prices: Prices
  const canUseTool: CanUseTool
  const context: BatchContext
  const executor: Executor
  const journals: JournalStore
  const session: Opened
  const root: string
  const inputSchema: import('zod').ZodObject<{}>
  const call: () => Promise<{ data: string }>
  const id: string
  const connectionString: string
  const other: import('signalbox').SessionQuestion
  const question: string
  const bank: { pay(invoice: string, options: { key: string }): Promise<string>; find(by: { key: string }): Promise<string | undefined> }
  const show: (...shown: unknown[]) => void
  const notify: (...shown: unknown[]) => void
  const redact: (value: unknown) => unknown
  const inBubblewrap: (root: string) => import('@signalbox/tools').WrapCommand
}
`

it('every sample in README and docs compiles with the packed types', () => {
  const project = emptyProject()
  symlinkSync(join(builtProject(), 'node_modules'), join(project.folder, 'node_modules'))
  project.write('surroundings.d.ts', surroundings)
  const samples = { ts: 0, js: 0 }
  for (const page of pages) {
    const text = readFileSync(join(root, page), 'utf8')
    // a sample in JavaScript is a module that others import by the name in the line above it
    for (const [, name, language, code = ''] of text.matchAll(
      /(?:`([\w-]+\.mjs)`.*\n\n)?^ *```(ts|js)\n([\s\S]*?)```/gm,
    )) {
      const number = ++samples[language as 'ts' | 'js']
      project.write(`${page.replaceAll(/\W/g, '-')}/${name ?? `${number}.ts`}`, `${code}\nexport {}\n`)
    }
  }
  expect(samples.ts).toBeGreaterThan(70)
  expect(samples.js).toBeGreaterThan(4)
  const compilerOptions = {
    ...strictly,
    types: ['node'],
    allowJs: true,
    noEmit: true,
    skipLibCheck: true,
    // npm installs it inside the package that needs it, beside the other XState
    paths: { '@xstate/inspect': [join(root, 'packages/xstate-inspect/node_modules/@xstate/inspect/lib/index.d.ts')] },
  }
  project.write('tsconfig.json', JSON.stringify({ compilerOptions, include: ['**/*.ts'] }))
  expect(project.compile('-p', 'tsconfig.json')).toBe('')
})
