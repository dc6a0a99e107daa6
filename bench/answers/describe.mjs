import { readFile } from 'node:fs/promises'

/** The engine's description, with the versions of its packages. */
export async function describe({ title, scope, packages, gives, progress }) {
  const versions = await Promise.all(packages.map(versionOf))
  // Infinity cannot be sent to the parent process as JSON
  const sideBySide = gives.sideBySide === Infinity ? null : gives.sideBySide
  return { title, scope, packages, versions, gives: { ...gives, sideBySide }, reports: progress !== undefined }
}

async function versionOf(name) {
  const folder = name === 'signalbox' ? '../../' : `../node_modules/${name}/`
  const { version } = JSON.parse(await readFile(new URL(`${folder}package.json`, import.meta.url), 'utf8'))
  return `${name} ${version}`
}
