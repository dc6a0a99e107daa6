import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

export const root = resolve(import.meta.dirname, '../..')

export interface Import {
  readonly file: string
  readonly from: string
}

/** Every import of the sources below a folder of the project. */
export function importsBelow(folder: string): Import[] {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).filter(
    (name) => /\.tsx?$/.test(name) && !/(^|\/)(node_modules|dist)\//.test(name),
  )
  return files.flatMap((name) => {
    const file = join(folder, name)
    const text = readFileSync(join(root, file), 'utf8')
    return [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map(([, from]) => ({ file, from: from as string }))
  })
}

/** The file of a relative import, from the root of the project. */
export const targetOf = ({ file, from }: Import): string => relative(root, resolve(root, dirname(file), from))

/** The packages that are loaded when a file is. */
export function packagesBehind(entry: string): Set<string> {
  const seen = new Set<string>()
  const packages = new Set<string>()
  const visit = (file: string): void => {
    if (seen.has(file)) return
    seen.add(file)
    const text = readFileSync(join(root, file), 'utf8')
    // a type-only import is removed at run time
    for (const [, from = ''] of text.matchAll(/^(?:import|export) (?!type )[^']*?from '([^']+)'/gm)) {
      if (from.startsWith('.')) visit(targetOf({ file, from }))
      else packages.add(from)
    }
  }
  visit(entry)
  return packages
}
