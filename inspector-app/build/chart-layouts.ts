import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ELK from 'elkjs/lib/elk.bundled.js'
import type { Plugin } from 'vite'
import { backgroundChart, callChart, connectionChart, executorChart, queryChart } from '../../machines/index.ts'
import { chartOf } from '../../src/inspect/frames/chart-definition.ts'
import { readLayout, toElk, ways } from '../src/chart/elk-graph.ts'
import { layoutKey } from '../src/chart/graph.ts'
import type { ReadyLayouts } from '../src/chart/layouts.ts'
import { packLayout } from '../src/chart/packed-layout.ts'

const name = 'virtual:chart-layouts'

/** The layouts of Signalbox's own charts, made once by the build, because a page needs more than a second for them. */
export const chartLayouts = (): Plugin => {
  let folder = ''
  return {
    name: 'chart-layouts',
    configResolved({ cacheDir }) {
      folder = cacheDir
    },
    resolveId: (id) => (id === name ? `\0${name}` : undefined),
    async load(id) {
      if (id !== `\0${name}`) return undefined
      return `export const ready = JSON.parse(${JSON.stringify(JSON.stringify(await cachedLayouts(folder)))})`
    },
  }
}

const charts = [callChart, executorChart, queryChart, backgroundChart, connectionChart].map((chart) => {
  const { definition } = chartOf(chart() as never)
  return { key: layoutKey(definition), graphs: ways.map((way) => [way, toElk(definition, way)] as const) }
})

/** Each part of the app is built by itself; the first one writes the layouts down for the others. */
async function cachedLayouts(folder: string): Promise<ReadyLayouts> {
  const hash = createHash('sha256').update(JSON.stringify(charts)).digest('hex').slice(0, 16)
  const file = join(folder, `chart-layouts-${hash}.json`)
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    const made = await layOut()
    mkdirSync(folder, { recursive: true })
    writeFileSync(file, JSON.stringify(made))
    return made
  }
}

async function layOut(): Promise<ReadyLayouts> {
  const elk = new ELK()
  const made: Record<string, ReadyLayouts[string]> = {}
  for (const { key, graphs } of charts) {
    const layouts = graphs.map(async ([way, graph]) => [way, packLayout(readLayout(await elk.layout(graph)))] as const)
    made[key] = Object.fromEntries(await Promise.all(layouts))
  }
  return made
}
