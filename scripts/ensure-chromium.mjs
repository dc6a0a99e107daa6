import { execFileSync } from 'node:child_process'
import { findChromium } from './find-chromium.mjs'

// The end-to-end tests need a Chromium. It is installed where that is possible; else this says what to do, and fails.
if (findChromium() === undefined) install()

function install() {
  if (process.env.CHROMIUM) return giveUp(`There is no Chromium at ${process.env.CHROMIUM}.`)
  const isRootOnDebian = process.platform === 'linux' && process.getuid?.() === 0 && hasApt()
  if (!isRootOnDebian) {
    giveUp('No Chromium was found, and it cannot be installed from here.')
    return
  }
  console.log('Installing Chromium for the end-to-end tests …')
  try {
    execFileSync('apt-get', ['update', '-qq'], { stdio: 'inherit' })
    execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'chromium'], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    })
  } catch {
    // what is missing then is said below
  }
  if (findChromium() === undefined) giveUp('Chromium could not be installed.')
}

function hasApt() {
  try {
    execFileSync('apt-get', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

function giveUp(problem) {
  console.error(`${problem}
Install Chromium or Chrome (Debian and Ubuntu: sudo apt-get install chromium; macOS: brew install --cask chromium),
or say where it is: CHROMIUM=/path/to/chromium npm test`)
  process.exitCode = 1
}
