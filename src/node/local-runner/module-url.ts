import { pathToFileURL } from 'node:url'
import { invalidOption } from '../../base/invalid-option.ts'

/** The URL of the module with the tools. */
export function moduleUrl(tools: unknown): string {
  if (typeof tools !== 'string' && !(tools instanceof URL)) {
    return invalidOption('tools', 'the path or URL of a module', tools)
  }
  return typeof tools === 'string' && !/^[a-z][a-z+.-]+:/i.test(tools) ? pathToFileURL(tools).href : String(tools)
}
