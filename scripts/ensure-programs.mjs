import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { findChromium } from './find-chromium.mjs'

// Programs that tests need. They are installed where that is possible; else this says what to do. Without Chromium it
// fails; tests of the others are left out.
const programs = [
  {
    name: 'Chromium',
    debian: 'chromium',
    find: findChromium,
    isRequired: true,
    problem: process.env.CHROMIUM && `There is no Chromium at ${process.env.CHROMIUM}.`,
    advice: `Install Chromium or Chrome (Debian and Ubuntu: sudo apt-get install chromium; macOS: brew install --cask chromium),
or say where it is: CHROMIUM=/path/to/chromium npm test`,
  },
  { name: 'ripgrep', debian: 'ripgrep', find: () => onPath('rg'), advice: 'Tests of searches with it are left out.' },
  ...(process.platform === 'linux'
    ? [{ name: 'bubblewrap', debian: 'bubblewrap', find: () => onPath('bwrap'), advice: 'Its tests are left out.' }]
    : []),
]

const missing = programs.filter(({ find }) => find() === undefined)
const installable = missing.filter(({ problem }) => !problem)
const canInstall = process.platform === 'linux' && process.getuid?.() === 0 && onPath('apt-get') !== undefined
if (installable.length > 0 && canInstall) install(installable)

for (const { name, find, isRequired = false, problem, advice } of missing) {
  if (find() !== undefined) continue
  console.error(
    `${problem || `${name} was not found, and ${canInstall ? 'could' : 'can'} not be installed.`}\n${advice}`,
  )
  if (isRequired) process.exitCode = 1
}

function install(wanted) {
  console.log(`Installing ${wanted.map(({ name }) => name).join(', ')} for the tests …`)
  try {
    execFileSync('apt-get', ['update', '-qq'], { stdio: 'inherit' })
  } catch {
    // what is missing then is said above
  }
  // one by one, so that what a release does not have takes nothing along
  for (const { debian } of wanted) {
    try {
      execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', debian], {
        stdio: ['ignore', 'ignore', 'inherit'],
        env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      })
    } catch {}
  }
}

function onPath(name) {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path))
}
