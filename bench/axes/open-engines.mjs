import { readFile } from 'node:fs/promises'
import { EngineClient } from './engine-client.mjs'

/**
 * Starts the engines and asks for their descriptions. An engine that cannot be loaded is an error, unless its package
 * requires a newer Node: then it is listed as left out.
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

async function needsNewerNode(name) {
  for (const id of await packagesOf(new URL(`../engines/${name}.mjs`, import.meta.url))) {
    const manifest = new URL(`../node_modules/${id}/package.json`, import.meta.url)
    const wanted = JSON.parse(await readFile(manifest, 'utf8').catch(() => '{}')).engines?.node
    const least = /^>=\s*(\d+)(?:\.(\d+))?/.exec(wanted ?? '')
    if (least && !isAtLeast(Number(least[1]), Number(least[2] ?? 0))) return `${id} needs Node ${wanted}`
  }
  return undefined
}

/** The packages that a file imports, directly or through files of the bench. Read from source, because it did not load. */
async function packagesOf(file) {
  const source = await readFile(file, 'utf8')
  const imports = [...source.matchAll(/from '([^']+)'/g)].map(([, id]) => id)
  const own = imports.filter((id) => id.startsWith('.') && !id.includes('/dist/')).map((id) => new URL(id, file))
  const names = imports.filter((id) => /^[@a-z]/.test(id) && !id.startsWith('node:'))
  const below = await Promise.all(own.map(packagesOf))
  return [...names.map((id) => /^(@[^/]+\/)?[^/]+/.exec(id)[0]), ...below.flat()]
}

function isAtLeast(major, minor) {
  const [ownMajor, ownMinor] = process.versions.node.split('.').map(Number)
  return ownMajor > major || (ownMajor === major && ownMinor >= minor)
}
