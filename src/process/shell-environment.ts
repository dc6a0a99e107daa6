import { isAbsolute } from 'node:path'

const kept = ['HOME', 'USER', 'LOGNAME', 'LANG', 'TZ', 'TMPDIR', 'SystemRoot']

/**
 * What a shell gets of the host's variables: little. Keys and tokens are not for it, and many variables make bash or the
 * programs it runs do something else than they say.
 */
export function shellEnvironment(
  host: Readonly<Record<string, string | undefined>>,
  more: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const env: Record<string, string> = { TERM: 'dumb', PAGER: 'cat', GIT_PAGER: 'cat', GIT_TERMINAL_PROMPT: '0' }
  for (const [name, value] of Object.entries(host)) {
    if (value !== undefined && (kept.includes(name) || name.startsWith('LC_'))) env[name] = value
  }
  // a relative entry would find programs wherever the shell happens to be
  env.PATH =
    (host.PATH ?? '')
      .split(':')
      .filter((folder) => isAbsolute(folder))
      .join(':') || '/usr/bin:/bin'
  return { ...env, ...more }
}
