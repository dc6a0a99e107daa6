import type { HookMatcher, Hooks } from 'signalbox'
import type { Places } from './places.ts'
import type { Settings } from './settings.ts'
import { readSettingsFile, type SettingsFile } from './settings-file.ts'
import { type HookSurroundings, shellHook } from './shell-hook.ts'
import { type AskTrust, grantsOf, isTrusted, trust } from './trust.ts'

/** The merged settings of the user and the project. The command line overrides them. */
export interface LoadedSettings {
  readonly mode: NonNullable<Settings['permissions']>['defaultMode']
  readonly allow: readonly string[]
  readonly ask: readonly string[]
  readonly deny: readonly string[]
  readonly model: string | undefined
  readonly prices: NonNullable<Settings['prices']>
  readonly hooks: Hooks
  /** The file and line of a rule. */
  whereIs(rule: string): string
  /** Each with its file, for errors. */
  readonly servers: readonly { readonly path: string; readonly mcpServers: Record<string, unknown> }[]
}

export async function loadSettings(
  places: Places,
  surroundings: HookSurroundings,
  askTrust: AskTrust,
): Promise<LoadedSettings> {
  const home = readSettingsFile(places.homeSettings)
  const project = readSettingsFile(places.projectSettings)
  const files = [home, project === undefined ? undefined : await asTrusted(places, project, askTrust)]
  const all = files.filter((file) => file !== undefined)
  const rules = (list: 'allow' | 'ask' | 'deny'): string[] =>
    all.flatMap(({ settings }) => settings.permissions?.[list] ?? [])
  const last = all.map(({ settings }) => settings).reverse()
  return {
    mode: last.find(({ permissions }) => permissions?.defaultMode !== undefined)?.permissions?.defaultMode,
    allow: rules('allow'),
    ask: rules('ask'),
    deny: rules('deny'),
    model: last.find(({ model }) => model !== undefined)?.model,
    prices: Object.assign({}, ...all.map(({ settings }) => settings.prices ?? {})),
    hooks: hooksOf(all, surroundings),
    whereIs: (rule) => all.map((file) => file.whereIs(rule)).find((where) => where !== undefined) ?? 'settings',
    servers: all.flatMap(({ path, settings: { mcpServers } }) =>
      mcpServers === undefined ? [] : [{ path, mcpServers }],
    ),
  }
}

/** Untrusted settings may only ask and deny more. */
async function asTrusted(places: Places, file: SettingsFile, askTrust: AskTrust): Promise<SettingsFile> {
  const grants = grantsOf(file)
  if (grants.length === 0 || isTrusted(places, file)) return file
  if (await askTrust(file, grants)) {
    trust(places, file.path, file.hash)
    return file
  }
  const { ask, deny } = file.settings.permissions ?? {}
  return { ...file, settings: { permissions: { ask, deny } } }
}

function hooksOf(files: readonly SettingsFile[], surroundings: HookSurroundings): Hooks {
  const matchers = (event: keyof Hooks): HookMatcher[] =>
    files.flatMap(({ settings }) =>
      (settings.hooks?.[event] ?? []).flatMap(({ matcher, hooks, onFailure = 'continue' }) =>
        hooks.map(({ command, timeout }) => ({
          matcher,
          timeout,
          onFailure,
          hooks: [shellHook(command, surroundings)],
        })),
      ),
    )
  return {
    PreToolUse: matchers('PreToolUse'),
    PostToolUse: matchers('PostToolUse'),
    PostToolUseFailure: matchers('PostToolUseFailure'),
  }
}
