import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findChromium } from '../../scripts/find-chromium.mjs'

const script = resolve(import.meta.dirname, '../../scripts/ensure-programs.mjs')
const look = (env: Record<string, string | undefined>) =>
  spawnSync(process.execPath, [script], { env: { ...process.env, ...env }, encoding: 'utf8' })

describe('finding the programs for tests', () => {
  it('says what to do without Chromium, and fails', () => {
    const { status, stderr } = look({ CHROMIUM: '/nowhere/chromium', PATH: '/nowhere' })
    expect(status).toBe(1)
    expect(stderr).toContain('CHROMIUM is set to /nowhere/chromium, but that file does not exist.')
    expect(stderr).toContain('apt-get install chromium')
  })

  it('says which tests are skipped without the others, and does not fail', () => {
    // apt-get is not on this path either
    const { status, stderr } = look({ CHROMIUM: findChromium(), PATH: '/nowhere' })
    expect(status).toBe(0)
    expect(stderr).toContain('ripgrep was not found and cannot be installed.\nTests that search with it are skipped.')
  })
})
