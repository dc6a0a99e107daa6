import { readFile } from 'node:fs/promises'
import { EngineClient } from './engine-client.mjs'

/**
 * Starts the engines and lets them describe themselves. One that cannot be loaded is a failure, unless its package
 * says that it wants a newer Node: then it is left out by name.
 */
export async function openEngines(names) {
  const clients = new Map()
  const about = {}
  const leftOut = []
  for (const name of names) {
    const client = new EngineClient(name)
    try {
      await client.start()
      about[name] = await client.ask('describe')
      clients.set(name, client)
    } catch (error) {
      const needs = await needsNewerNode(name)
      if (needs === undefined) throw error
      leftOut.push({ engine: name, needs })
    }
  }
  return { clients, about, leftOut }
}

/** By the packages that the engine's own file imports. */
async function needsNewerNode(name) {
  const source = await readFile(new URL(`../engines/${name}.mjs`, import.meta.url), 'utf8')
  for (const [, id] of source.matchAll(/from '(@[^/']+\/[^/']+|[^./'@][^/']*)/g)) {
    const manifest = new URL(`../node_modules/${id}/package.json`, import.meta.url)
    const wanted = JSON.parse(await readFile(manifest, 'utf8').catch(() => '{}')).engines?.node
    const least = /^>=\s*(\d+)(?:\.(\d+))?/.exec(wanted ?? '')
    if (least && !isAtLeast(Number(least[1]), Number(least[2] ?? 0))) return `${id} needs Node ${wanted}`
  }
  return undefined
}

function isAtLeast(major, minor) {
  const [ownMajor, ownMinor] = process.versions.node.split('.').map(Number)
  return ownMajor > major || (ownMajor === major && ownMinor >= minor)
}
