import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { findChromium } from './find-chromium.mjs'

// Installs the programs that tests need, if possible; otherwise prints what to do. Chromium is required. Tests that need
// one of the other programs are skipped without it.
const programs = [
  {
    name: 'Chromium',
    debian: 'chromium',
    find: findChromium,
    isRequired: true,
    problem: process.env.CHROMIUM && `CHROMIUM is set to ${process.env.CHROMIUM}, but that file does not exist.`,
    advice: `Install Chromium or Chrome (Debian and Ubuntu: sudo apt-get install chromium; macOS: brew install --cask chromium),
or say where it is: CHROMIUM=/path/to/chromium npm test`,
  },
  { name: 'ripgrep', debian: 'ripgrep', find: () => onPath('rg'), advice: 'Tests that search with it are skipped.' },
  { name: 'tmux', debian: 'tmux', find: () => onPath('tmux'), advice: 'Terminal tests are skipped.' },
  {
    name: 'PostgreSQL',
    debian: 'postgresql',
    find: findPostgres,
    advice: 'Tests of @signalbox/postgres are skipped; with CI=true they fail.',
  },
  {
    name: 'Redis',
    debian: 'redis-server',
    find: () => onPath('redis-server') ?? onPath('valkey-server'),
    advice: 'Tests of @signalbox/bullmq are skipped; with CI=true they fail.',
  },
  ...(process.platform === 'linux'
    ? [{ name: 'bubblewrap', debian: 'bubblewrap', find: () => onPath('bwrap'), advice: 'Sandbox tests are skipped.' }]
    : []),
]

const missing = programs.filter(({ find }) => find() === undefined)
const installable = missing.filter(({ problem }) => !problem)
const canInstall = process.platform === 'linux' && process.getuid?.() === 0 && onPath('apt-get') !== undefined
if (installable.length > 0 && canInstall) install(installable)

for (const { name, find, isRequired = false, problem, advice } of missing) {
  if (find() !== undefined) continue
  console.error(
    `${problem || `${name} was not found and ${canInstall ? 'could not' : 'cannot'} be installed.`}\n${advice}`,
  )
  if (isRequired) process.exitCode = 1
}

function install(wanted) {
  console.log(`Installing ${wanted.map(({ name }) => name).join(', ')} for the tests …`)
  try {
    execFileSync('apt-get', ['update', '-qq'], { stdio: 'inherit' })
  } catch {
    // missing programs are reported later
  }
  // one by one: a missing package must not make the others fail
  for (const { debian } of wanted) {
    try {
      execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', debian], {
        stdio: ['ignore', 'ignore', 'inherit'],
        env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      })
    } catch {}
  }
}

/** Debian keeps the programs of each version in a folder of its own. */
function findPostgres() {
  const folder = '/usr/lib/postgresql'
  const versions = existsSync(folder) ? readdirSync(folder) : []
  return (
    versions.map((version) => join(folder, version, 'bin/initdb')).find((path) => existsSync(path)) ?? onPath('initdb')
  )
}

function onPath(name) {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path))
}
