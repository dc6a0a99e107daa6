import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

// Moves the notes in .changeset into CHANGELOG.md.
//   npm run changelog           into the section Unreleased
//   npm run changelog -- 0.2.0  and names that section 0.2.0

const kinds = ['Added', 'Changed', 'Fixed', 'Removed']

/** Parses one note: its packages, and its items by kind. Throws an error that names an invalid note. */
export function readNote(name, text) {
  const [, head, body] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(text) ?? []
  if (body === undefined) throw new Error(`${name}: expected a head between two lines of ---`)
  const packages = head.split('\n').map((line) => {
    const found = /^["']?([@\w/-]+)["']?: (major|minor|patch)$/.exec(line)
    if (found === null) throw new Error(`${name}: expected "package": major, minor or patch, received ${line}`)
    return found[1]
  })
  const items = []
  for (const paragraph of body.trim().split(/\n{2,}/)) {
    const [, kind, rest] = /^(\w+): ([\s\S]*)$/.exec(paragraph) ?? []
    if (kinds.includes(kind)) items.push({ kind, text: rest[0].toUpperCase() + rest.slice(1) })
    else if (items.length === 0)
      throw new Error(`${name}: expected ${kinds.join(', ')} and a colon, received ${paragraph}`)
    else items.at(-1).text += `\n\n${paragraph}`
  }
  return { packages, items }
}

/** Adds the notes to the Unreleased section, which is created if the newest section already has a version. */
export function fold(changelog, notes) {
  const sections = changelog.split(/^(?=## )/m)
  if (!sections[1]?.startsWith('## Unreleased')) sections.splice(1, 0, '## Unreleased\n\n')
  const [heading, ...parts] = sections[1].split(/^(?=### )/m)
  const listed = new Map(parts.map((part) => [/^### (\w+)/.exec(part)[1], part.replace(/^### \w+\n+/, '').trimEnd()]))
  for (const { packages, items } of notes) {
    // items of the main package have no prefix
    const others = packages.includes('signalbox') ? [] : packages.map((name) => `\`${name}\``)
    for (const { kind, text } of items) {
      const item = `- ${others.length > 0 ? `${others.join(', ')}: ` : ''}${text}`
        .replaceAll('\n', '\n  ')
        .replaceAll(/^ +$/gm, '')
      listed.set(kind, [listed.get(kind), item].filter((each) => each !== undefined).join('\n'))
    }
  }
  const known = kinds.filter((kind) => listed.has(kind))
  sections[1] = `${heading.trimEnd()}\n\n${known.map((kind) => `### ${kind}\n\n${listed.get(kind)}\n\n`).join('')}`
  return sections.join('')
}

export function readNotes(folder) {
  const names = existsSync(folder)
    ? readdirSync(folder).filter((name) => name.endsWith('.md') && name !== 'README.md')
    : []
  return names.sort().map((name) => ({ name, ...readNote(name, readFileSync(join(folder, name), 'utf8')) }))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('..', import.meta.url))
  const folder = join(root, '.changeset')
  const file = join(root, 'CHANGELOG.md')
  const notes = readNotes(folder)
  const version = process.argv[2]
  const folded = notes.length > 0 ? fold(readFileSync(file, 'utf8'), notes) : readFileSync(file, 'utf8')
  writeFileSync(file, version === undefined ? folded : folded.replace('## Unreleased', `## ${version}`))
  for (const { name } of notes) rmSync(join(folder, name))
  console.log(`${notes.length} notes moved into CHANGELOG.md`)
}
