import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { usageError } from './usage-error.ts'

/** Loads a package that the user may have installed: beside this one, then in the current project. */
export async function loadOptional<Module>(name: string, missing: string): Promise<Module> {
  try {
    return (await import(name)) as Module
  } catch (error) {
    let path: string
    try {
      path = createRequire(join(process.cwd(), 'package.json')).resolve(name)
    } catch {
      throw usageError(missing, error)
    }
    return (await import(pathToFileURL(path).href)) as Module
  }
}
