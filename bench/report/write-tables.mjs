import { readFile, writeFile } from 'node:fs/promises'

const page = new URL('../../docs/performance.md', import.meta.url)
const markers = ['<!-- bench:start -->', '<!-- bench:end -->']

/** Writes the tables into the documentation, between its markers. */
export async function writeTables(tables) {
  const [before, rest] = split(await readFile(page, 'utf8'), markers[0])
  const [, after] = split(rest, markers[1])
  await writeFile(page, `${before}${markers[0]}\n\n${tables}\n\n${markers[1]}${after}`)
}

function split(text, marker) {
  const at = text.indexOf(marker)
  if (at < 0) throw new Error(`docs/performance.md has no ${marker}`)
  return [text.slice(0, at), text.slice(at + marker.length)]
}
