import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { tellsRequests } from './tells-requests.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
// not inside node_modules, where Vite does not read a tsconfig
const cache = join(root, '.built')

/** The parts of the project that a build reads or a package contains. */
const parts = [
  ...['package.json', 'tsconfig.json', 'tsconfig.build.json', 'README.md', 'LICENSE', 'CHANGELOG.md'],
  ...['src', 'machines', 'inspector-app', 'scripts', 'docs', 'packages', 'examples'],
]
const isLeftOut = (path) => /(^|\/)(node_modules|dist|test|images)(\/|$)/.test(path)

const sources = () =>
  parts.flatMap((part) =>
    statSync(join(root, part)).isFile()
      ? part
      : readdirSync(join(root, part), { recursive: true, encoding: 'utf8' })
          .map((name) => join(part, name))
          .filter((name) => !isLeftOut(name) && statSync(join(root, name)).isFile()),
  )

/**
 * A copy of the project with everything built, as a release would be, and packed into `tarballs`. The build also tells
 * tests what queries ask (`tells-requests.mjs`). Test files share it: the first to ask builds it, and it is built again
 * only when a source changed. `dist` of the project itself stays untouched.
 */
export function builtProject() {
  const files = sources()
  const hash = createHash('sha256')
  for (const file of files)
    hash
      .update(file)
      .update('\0')
      .update(readFileSync(join(root, file)))
      .update('\0')
  const folder = join(cache, hash.digest('hex').slice(0, 16))
  const done = join(folder, 'built')
  const lock = `${folder}.lock`
  mkdirSync(cache, { recursive: true })
  while (!existsSync(done)) {
    if (!takeLock(lock)) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
      continue
    }
    try {
      removeOlder(folder)
      copy(files, folder)
      // Vitest sets NODE_ENV to `test`, and a release is built without it
      const { NODE_ENV: _, ...env } = process.env
      execFileSync('npm', ['run', '--silent', 'build'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
      pack(folder)
      watch(join(folder, 'dist/src/shared'))
      writeFileSync(done, '')
    } finally {
      rmSync(lock, { recursive: true, force: true })
    }
  }
  return folder
}

/** The tarballs of all packages, as they would be published, beside the build. */
function pack(folder) {
  mkdirSync(join(folder, 'tarballs'))
  // npm cannot handle the links, and packing needs no modules
  const modules = ['.', 'packages/xstate-inspect'].map((part) => join(folder, part, 'node_modules'))
  for (const each of modules) renameSync(each, `${each}-aside`)
  const all = ['--workspaces', '--include-workspace-root', '--ignore-scripts', '--pack-destination', 'tarballs']
  execFileSync('npm', ['pack', '--silent', ...all], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  for (const each of modules) renameSync(`${each}-aside`, each)
}

/** Lets child processes of tests tell what their queries ask; the tarballs stay as they are. */
function watch(folder) {
  for (const name of readdirSync(folder)) {
    const telling = name.endsWith('.js') ? tellsRequests(readFileSync(join(folder, name), 'utf8')) : undefined
    if (telling !== undefined) return writeFileSync(join(folder, name), telling)
  }
  throw new Error(`No file in ${folder} contains the class ModelStream`)
}

/** One process builds; the others wait, and take over if it dies. */
function takeLock(lock) {
  try {
    mkdirSync(lock)
    writeFileSync(join(lock, 'pid'), String(process.pid))
    return true
  } catch {
    if (!isAlive(lock)) rmSync(lock, { recursive: true, force: true })
    return false
  }
}

function isAlive(lock) {
  try {
    process.kill(Number(readFileSync(join(lock, 'pid'), 'utf8')), 0)
    return true
  } catch {
    // a lock without a pid was created a moment ago
    return existsSync(lock) && !existsSync(join(lock, 'pid'))
  }
}

/** Removes builds of other sources that are older than an hour: another run of the tests may still use newer ones. */
function removeOlder(kept) {
  for (const name of readdirSync(cache)) {
    const path = join(cache, name)
    const isOld = Date.now() - statSync(path).mtimeMs > 3_600_000
    if (path !== kept && isOld) rmSync(path, { recursive: true, force: true })
  }
}

/** The sources, and the packages: those of the project from the copy, all others from where they are installed. */
function copy(files, folder) {
  rmSync(folder, { recursive: true, force: true })
  for (const file of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    cpSync(join(root, file), join(folder, file))
  }
  const modules = join(root, 'node_modules')
  mkdirSync(join(folder, 'node_modules'))
  for (const name of readdirSync(modules)) {
    if (name === 'signalbox' || name === '@signalbox' || name === '.cache') continue
    symlinkSync(join(modules, name), join(folder, 'node_modules', name))
  }
  for (const scope of ['signalbox', '@signalbox']) {
    cpSync(join(modules, scope), join(folder, 'node_modules', scope), { recursive: true, verbatimSymlinks: true })
  }
  for (const name of readdirSync(join(root, 'packages'))) {
    const own = join(root, 'packages', name, 'node_modules')
    if (existsSync(own)) symlinkSync(own, join(folder, 'packages', name, 'node_modules'))
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) builtProject()
