import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../..')

/** From the ground up: a room may import from those before it, and from itself. */
const rooms = [
  'machines',
  'src/text',
  'src/messages',
  'src/results',
  'src/errors',
  'src/permission',
  'src/hooks',
  'src/tool',
  'src/model',
  'src/anthropic',
  'src/openai',
  'src/ai-sdk',
  'src/transcript',
  'src/pipeline',
  'src/scripted',
  'src/executor',
  'src/batch',
  'src/query',
  'src/sub-agent',
  'src/inspect',
  'src/index.ts',
  'src/node',
  'src/testing',
  'src/inspect-app',
  'src/inspect-server',
  'src/replay-page',
  'src/workspace',
  'src/shell',
  'src/tools',
  'src/mcp',
  'src/cli',
]

const allowedPackages = new Map([
  ['machines', ['xstate']],
  ['src', ['xstate', 'zod']],
])

/** Rooms for Node with packages of their own. */
const nodeRooms = new Map([
  ['src/workspace', ['picomatch']],
  ['src/shell', ['unbash']],
  ['src/tools', ['zod', 'ignore', 'picomatch']],
  [
    'src/mcp',
    [
      'zod',
      'xstate',
      '@modelcontextprotocol/client',
      '@modelcontextprotocol/server',
      '@modelcontextprotocol/server/stdio',
    ],
  ],
  // bundled with it
  ['src/cli', ['zod', 'commander', 'log-update', 'slice-ansi', 'string-width', 'wrap-ansi', 'picocolors']],
])

interface Import {
  readonly file: string
  readonly from: string
}

function importsBelow(folder: string): Import[] {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.tsx?$/.test(name),
  )
  return files.flatMap((name) => {
    const file = join(folder, name)
    const text = readFileSync(join(root, file), 'utf8')
    return [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map(([, from]) => ({ file, from: from as string }))
  })
}

/** The packages that are loaded when a file is. */
function packagesBehind(entry: string): Set<string> {
  const seen = new Set<string>()
  const packages = new Set<string>()
  const visit = (file: string): void => {
    if (seen.has(file)) return
    seen.add(file)
    const text = readFileSync(join(root, file), 'utf8')
    // a line of types only is gone when it runs
    for (const [, from = ''] of text.matchAll(/^(?:import|export) (?!type )[^']*?from '([^']+)'/gm)) {
      if (from.startsWith('.')) visit(relative(root, resolve(root, dirname(file), from)))
      else packages.add(from)
    }
  }
  visit(entry)
  return packages
}

const roomOf = (file: string): number => rooms.findIndex((room) => file === room || file.startsWith(`${room}/`))

describe('imports go one way', () => {
  const all = [...importsBelow('machines'), ...importsBelow('src')]

  it('finds the imports', () => expect(all.length).toBeGreaterThan(100))

  it('a room imports only from the rooms below it', () => {
    const wrong = all.filter(({ file, from }) => {
      if (!from.startsWith('.')) return false
      const target = relative(root, resolve(root, dirname(file), from))
      return roomOf(target) < 0 || roomOf(target) > roomOf(file)
    })
    expect(wrong).toEqual([])
  })

  it('the charts know xstate, the core xstate and zod, and neither knows Node', () => {
    const wrong = all.filter(({ file, from }) => {
      if (from.startsWith('.')) return false
      // what needs Node stands apart, on a subpath of its own
      if (/^src\/(node|inspect-server|replay-page)\//.test(file) && from.startsWith('node:')) return false
      const packages = nodeRooms.get(file.split('/', 2).join('/'))
      if (packages !== undefined) return !from.startsWith('node:') && !packages.includes(from)
      const top = file.split('/', 1)[0] as string
      return !allowedPackages.get(top)?.includes(from)
    })
    expect(wrong).toEqual([])
  })

  it('the page knows the frames and the recorder; only the playground knows the library, by its public name', () => {
    const wrong = ['inspector-app/src', 'inspector-app/playground'].flatMap(importsBelow).filter(({ file, from }) => {
      if (from.startsWith('signalbox')) {
        return (
          !file.startsWith('inspector-app/playground/') ||
          !['signalbox', 'signalbox/scripted', 'signalbox/inspect'].includes(from)
        )
      }
      if (!from.startsWith('.')) return false
      const target = relative(root, resolve(root, dirname(file), from))
      if (target.startsWith('inspector-app/playground/')) return !file.startsWith('inspector-app/playground/')
      return !/^(inspector-app\/src|src\/(inspect|inspect-app|errors|text)|src\/testing\/(recording-checks|invariants|invariant))(\/|\.ts)/.test(
        target,
      )
    })
    expect(wrong).toEqual([])
  })

  it('what the page takes of the testing kit needs no package, no test framework and no Node', () => {
    expect(packagesBehind('src/testing/recording-checks.ts')).toEqual(new Set())
  })

  it('whoever imports `signalbox` loads xstate and nothing else', () => {
    expect(packagesBehind('src/index.ts')).toEqual(new Set(['xstate']))
  })
})
