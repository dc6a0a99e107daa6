import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from '../support/imports.ts'

const below = (folder: string): string[] =>
  readdirSync(join(root, folder)).flatMap((name) => (name.endsWith('.md') ? `${folder}/${name}` : []))
const pages = [
  ...['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', '.changeset/README.md'],
  ...below('docs'),
  ...readdirSync(join(root, 'packages')).flatMap((name) => (name.includes('.') ? [] : below(`packages/${name}`))),
]

const textOf = (page: string): string => readFileSync(join(root, page), 'utf8').replaceAll(/^ *```[\s\S]*?^ *```/gm, '')

/** The anchors that GitHub gives to the headings of a page. */
function anchorsOf(page: string): Set<string> {
  const counts = new Map<string, number>()
  const anchors = new Set<string>()
  for (const [, heading = ''] of textOf(page).matchAll(/^#+ (.*)$/gm)) {
    const text = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
    const slug = text.replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(' ', '-')
    const count = counts.get(slug) ?? 0
    counts.set(slug, count + 1)
    anchors.add(count === 0 ? slug : `${slug}-${count}`)
  }
  return anchors
}

/** Links and pictures inside the repository. */
const linksOf = (page: string): string[] =>
  [...textOf(page).matchAll(/\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)"/g)]
    .map(([, link, source]) => (link ?? source) as string)
    .filter((link) => !/^\w+:/.test(link))

describe('links in README and docs', () => {
  it('finds the links', () => expect(pages.flatMap(linksOf).length).toBeGreaterThan(200))

  it.each(pages)('%s links to files and headings that exist', (page) => {
    const broken = linksOf(page).filter((link) => {
      const [path = '', anchor] = link.split('#', 2)
      const file = path === '' ? page : relative(root, join(root, dirname(page), path))
      if (!existsSync(join(root, file))) return true
      return anchor !== undefined && !anchorsOf(file).has(anchor)
    })
    expect(broken).toEqual([])
  })
})
