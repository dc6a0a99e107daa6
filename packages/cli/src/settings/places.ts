import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Io } from '../io.ts'

/** The locations of settings and sessions. */
export interface Places {
  /** The user's settings for all projects. */
  readonly home: string
  readonly homeSettings: string
  readonly projectSettings: string
  /** Which project settings files the user trusts. */
  readonly trusted: string
  readonly sessions: string
}

export function placesFor(root: string, { env }: Io): Places {
  const home = join(env.SIGNALBOX_HOME ?? join(env.HOME ?? homedir(), '.signalbox'))
  return {
    home,
    homeSettings: join(home, 'settings.json'),
    projectSettings: join(realpathSync(root), '.signalbox', 'settings.json'),
    trusted: join(home, 'trusted.json'),
    sessions: join(home, 'sessions'),
  }
}
