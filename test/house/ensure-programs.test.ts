import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findChromium } from '../../scripts/find-chromium.mjs'

const script = resolve(import.meta.dirname, '../../scripts/ensure-programs.mjs')
const look = (env: Record<string, string | undefined>) =>
  spawnSync(process.execPath, [script], { env: { ...process.env, ...env }, encoding: 'utf8' })

describe('the look for programs', () => {
  it('says what to do where there is no Chromium, and fails', () => {
    const { status, stderr } = look({ CHROMIUM: '/nowhere/chromium', PATH: '/nowhere' })
    expect(status).toBe(1)
    expect(stderr).toContain('There is no Chromium at /nowhere/chromium.')
    expect(stderr).toContain('apt-get install chromium')
  })

  it('says which tests are left out without the others, and does not fail', () => {
    // no apt-get on this path either
    const { status, stderr } = look({ CHROMIUM: findChromium(), PATH: '/nowhere' })
    expect(status).toBe(0)
    expect(stderr).toContain(
      'ripgrep was not found, and can not be installed.\nTests of searches with it are left out.',
    )
  })
})
