import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { visibleLine } from 'signalbox'
import type { Io } from '../io.ts'
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

/** Called for project settings that are not trusted yet; resolves to whether they are now. */
export type AskTrust = (file: SettingsFile, grants: readonly string[]) => Promise<boolean>

/** Asks at the terminal whether to trust a project's settings; without a terminal, use `--trust`. */
export const askTrust =
  (io: Io, isTrusted: boolean): AskTrust =>
  async ({ path }, grants) => {
    if (isTrusted) return true
    const file = visibleLine(path)
    const list = grants.map((grant) => `  ${visibleLine(grant)}\n`).join('')
    if (io.stdin.isTTY === true && io.stdout.isTTY === true) {
      io.stdout.write(`${file} is new or has changed. It contains:\n${list}`)
      const reader = createInterface({ input: io.stdin, output: io.stdout })
      const answer = await reader.question('Use these settings from now on? [y/N] ').catch(() => '')
      reader.close()
      if (/^y(?:es)?$/i.test(answer.trim())) return true
    }
    io.stderr.write(
      `signalbox: ${file} is not trusted, so only its ask and deny rules apply. Ignored:\n${list}Read the file, then pass --trust to trust its current content.\n`,
    )
    return false
  }
