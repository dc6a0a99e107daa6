import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { importsBelow, packagesBehind, root, targetOf } from '../support/imports.ts'

const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8')

/** The rooms as the page lists them: each may import from those above it and from itself. */
const rooms = [...page.matchAll(/^\| `(machines|src\/[\w/.-]+)` \|/gm)].map(([, room]) => room as string)

/** The innermost room that contains a file. */
const roomOf = (file: string): number => {
  const around = rooms.filter((room) => file === room || file.startsWith(`${room}/`))
  return rooms.indexOf(around.sort((a, b) => b.length - a.length)[0] ?? '')
}

/** Code that needs Node is separate, on its own subpaths. */
const forNode = /^src\/(node|process|inspect\/server|inspect\/replay-page|inspect\/built-page\.ts)(\/|$)/

describe('imports go one way', () => {
  const all = [...importsBelow('machines'), ...importsBelow('src')]

  it('the page lists every room, each once', () => {
    const found = readdirSync(join(root, 'src')).map((name) => `src/${name}`)
    expect(rooms.filter((room) => room.split('/').length < 3).sort()).toEqual(['machines', ...found].sort())
    expect(new Set(rooms).size).toBe(rooms.length)
    for (const room of rooms) expect(statSync(join(root, room)).isFile()).toBe(room.endsWith('.ts'))
  })

  it('the page names files that exist', () => {
    const files = ['machines', 'src', 'inspector-app/src', 'packages', 'scripts', 'test'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).flatMap((file) =>
        file.includes('node_modules') ? [] : `${folder}/${file}`,
      ),
    )
    const named = [...page.matchAll(/`([\w/.-]+\.(?:ts|mjs))`/g)].map(([, name]) => name as string)
    expect(named.length).toBeGreaterThan(20)
    expect(named.filter((name) => !files.some((file) => `/${file}`.endsWith(`/${name}`)))).toEqual([])
  })

  it('finds the imports', () => expect(all.length).toBeGreaterThan(500))

  it('a room imports only from the rooms above it', () => {
    const wrong = all.filter(({ file, from }) => {
      if (!from.startsWith('.')) return false
      const target = roomOf(targetOf({ file, from }))
      return target < 0 || target > roomOf(file)
    })
    expect(wrong).toEqual([])
  })

  it('the charts import only xstate, the core only xstate and zod, and neither imports Node', () => {
    const wrong = all.filter(({ file, from }) => {
      if (from.startsWith('.') || from === 'xstate') return false
      if (from.startsWith('node:')) return !forNode.test(file)
      return from !== 'zod' || file.startsWith('machines/')
    })
    expect(wrong).toEqual([])
  })

  it('the page imports the frames and the recorder; only the playground imports the library, by its public name', () => {
    const wrong = ['inspector-app/src', 'inspector-app/playground'].flatMap(importsBelow).filter(({ file, from }) => {
      if (from.startsWith('signalbox')) {
        return (
          !file.startsWith('inspector-app/playground/') ||
          !['signalbox', 'signalbox/scripted', 'signalbox/inspect'].includes(from)
        )
      }
      if (!from.startsWith('.')) return false
      const target = targetOf({ file, from })
      if (target.startsWith('inspector-app/playground/')) return !file.startsWith('inspector-app/playground/')
      const isShared =
        /^(inspector-app\/src|src\/(inspect|base)|src\/permission\/(shown-input|visible-text)|src\/testing\/(recording-checks|invariants|invariant))(\/|\.ts)/
      return !isShared.test(target) || forNode.test(target)
    })
    expect(wrong).toEqual([])
  })

  it('the parts of the test kit in the page need no package, no test framework and no Node', () => {
    expect(packagesBehind('src/testing/recording-checks.ts')).toEqual(new Set())
  })

  it('importing `signalbox` loads only xstate', () => {
    expect(packagesBehind('src/index.ts')).toEqual(new Set(['xstate']))
  })
})
