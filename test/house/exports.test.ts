import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { builtProject } from '../../scripts/built-project.mjs'
import { root } from '../support/imports.ts'

interface Manifest {
  readonly name: string
  readonly exports: Record<string, string | { types: string; default: string }>
}

const folders = [
  '.',
  ...readdirSync(join(root, 'packages'), { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? `packages/${entry.name}` : [],
  ),
]
const entries = folders.flatMap((folder) => {
  const { name, exports }: Manifest = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
  return Object.entries(exports).map(([subpath, files]) => ({
    folder,
    specifier: name + subpath.slice(1),
    types: typeof files === 'string' ? undefined : files.types,
    file: typeof files === 'string' ? files : files.default,
  }))
})
/** Subpaths with code and types; the others are files for tools. */
const modules = entries.filter(({ types }) => types !== undefined)

const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`),
  ...folders.map((folder) => `${folder}/README.md`),
]
const words = new Set(
  pages
    .filter((page) => page.endsWith('.md') && existsSync(join(root, page)))
    .flatMap((page) => readFileSync(join(root, page), 'utf8').match(/\w+/g) ?? []),
)

describe('what can be imported', () => {
  const built = builtProject()

  it('covers every subpath of every package', () => {
    expect(modules.map(({ specifier }) => specifier)).toMatchInlineSnapshot(`
      [
        "signalbox",
        "signalbox/machines",
        "signalbox/transcripts",
        "signalbox/scripted",
        "signalbox/sub-agent",
        "signalbox/durable",
        "signalbox/remote",
        "signalbox/node",
        "signalbox/anthropic",
        "signalbox/openai",
        "signalbox/ai-sdk",
        "signalbox/testing",
        "signalbox/inspect",
        "signalbox/inspect/server",
        "signalbox/inspect/app",
        "signalbox/inspect/replay",
        "@signalbox/bullmq",
        "@signalbox/mcp",
        "@signalbox/postgres",
        "@signalbox/stately-inspect",
        "@signalbox/stately-inspect/server",
        "@signalbox/tools",
        "@signalbox/xstate-inspect",
        "@signalbox/xstate-inspect/server",
      ]
    `)
    expect(
      entries.filter((entry) => !modules.includes(entry)).map(({ specifier }) => specifier),
    ).toMatchInlineSnapshot(`
      [
        "signalbox/inspect/elk-worker",
        "signalbox/package.json",
        "@signalbox/bullmq/package.json",
        "@signalbox/cli/package.json",
        "@signalbox/mcp/package.json",
        "@signalbox/postgres/package.json",
        "@signalbox/stately-inspect/package.json",
        "@signalbox/tools/package.json",
        "@signalbox/xstate-inspect/package.json",
      ]
    `)
  })

  it.each(entries)('$specifier is in the build, with its types', ({ folder, file, types = file }) => {
    expect([file, types].filter((path) => !existsSync(join(built, folder, path)))).toEqual([])
  })

  it.each(modules)('every export of $specifier is documented', async ({ folder, file, types = '' }) => {
    const names = valuesOf(readFileSync(join(built, folder, types), 'utf8'))
    // the page that hosts mount needs a browser to load
    if (file.includes('inspector-app')) return expect(names.filter((name) => !words.has(name))).toEqual([])
    const entry: object = await import(join(built, folder, file))
    expect(Object.keys(entry).filter((name) => !words.has(name))).toEqual([])
  })

  it.each(
    modules.filter(({ folder, file }) => folder === '.' && !file.includes('inspector-app')),
  )('the build of $specifier exports what its source exports, and nothing else', async ({ specifier, file }) => {
    const [entry, source]: object[] = await Promise.all([import(join(built, file)), import(specifier)])
    expect(Object.keys(entry ?? {}).sort()).toEqual(Object.keys(source ?? {}).sort())
  })
})

/** The names of functions and constants that a declaration file exports. */
function valuesOf(types: string): string[] {
  return [...types.matchAll(/^export declare (?:function|const|class) (\w+)/gm)].map(([, name]) => name as string)
}
