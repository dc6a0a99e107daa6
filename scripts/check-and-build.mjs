import { spawn } from 'node:child_process'

// The checks, and beside them the build that many tests share: neither keeps two cores busy.
const running = [
  ['npm', 'run', '--silent', 'check'],
  [process.execPath, 'scripts/built-project.mjs'],
].map(([program, ...args]) => spawn(program, args, { stdio: 'inherit' }))

for (const child of running) {
  child.on('exit', (code) => {
    if (code === 0) return
    process.exitCode = 1
    for (const other of running) other.kill()
  })
}
