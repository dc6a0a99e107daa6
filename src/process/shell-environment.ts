import { isAbsolute } from 'node:path'

const kept = ['HOME', 'USER', 'LOGNAME', 'LANG', 'TZ', 'TMPDIR', 'SystemRoot']

/**
 * The few variables of the host that a shell gets. Keys and tokens are removed, and so are variables that change what
 * bash or other programs do.
 */
export function shellEnvironment(
  host: Readonly<Record<string, string | undefined>>,
  more: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const env: Record<string, string> = { TERM: 'dumb', PAGER: 'cat', GIT_PAGER: 'cat', GIT_TERMINAL_PROMPT: '0' }
  for (const [name, value] of Object.entries(host)) {
    if (value !== undefined && (kept.includes(name) || name.startsWith('LC_'))) env[name] = value
  }
  // with a relative entry, the programs found would depend on the working directory
  env.PATH =
    (host.PATH ?? '')
      .split(':')
      .filter((folder) => isAbsolute(folder))
      .join(':') || '/usr/bin:/bin'
  return { ...env, ...more }
}
