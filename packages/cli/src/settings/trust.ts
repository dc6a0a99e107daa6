import { readFileSync } from 'node:fs'
import type { Places } from './places.ts'
import type { SettingsFile } from './settings-file.ts'
import { writeWholeFile } from './whole-file.ts'

/**
 * A project's settings may come with a repository that somebody else wrote: its hooks and servers run programs, and
 * its rules remove prompts. So they apply only after the user has agreed to their exact content.
 */
export function isTrusted({ trusted }: Places, { path, hash }: SettingsFile): boolean {
  return readTrusted(trusted)[path] === hash
}

export function trust({ trusted }: Places, path: string, hash: string): void {
  writeWholeFile(trusted, `${JSON.stringify({ ...readTrusted(trusted), [path]: hash }, null, 2)}\n`)
}

function readTrusted(path: string): Record<string, unknown> {
  try {
    const read: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return typeof read === 'object' && read !== null ? { ...read } : {}
  } catch {
    return {}
  }
}

/** The grants of a file beyond asking and denying more, as lines for people; empty if nothing. */
export function grantsOf({ settings: { permissions = {}, hooks = {}, mcpServers = {} } }: SettingsFile): string[] {
  const commands = Object.values(hooks).flatMap((entries) =>
    (entries ?? []).flatMap((entry) => entry.hooks.map(({ command }) => command)),
  )
  return [
    ...(permissions.defaultMode === undefined ? [] : [`permission mode ${permissions.defaultMode}`]),
    ...(permissions.allow ?? []).map((rule) => `allows ${rule}`),
    ...commands.map((command) => `hook runs ${JSON.stringify(command)}`),
    ...Object.entries(mcpServers).map(
      ([name, { command, args, url }]) =>
        `MCP server ${JSON.stringify(name)}: ${JSON.stringify(url ?? [command, ...(Array.isArray(args) ? args : [])])}`,
    ),
  ]
}
