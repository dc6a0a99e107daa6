import { execFileSync, spawnSync } from 'node:child_process'

// Some tests drive a real terminal. Where tmux cannot be had they are skipped, and this says so.
const hasTmux = () => spawnSync('tmux', ['-V']).status === 0

if (!hasTmux() && process.platform === 'linux' && process.getuid?.() === 0) {
  try {
    console.log('Installing tmux for the tests in a terminal …')
    execFileSync('apt-get', ['update', '-qq'], { stdio: 'ignore' })
    execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'tmux'], {
      stdio: 'ignore',
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    })
  } catch {
    // what is missing then is said below
  }
}
if (!hasTmux()) console.warn('There is no tmux: the tests in a terminal are skipped (apt-get install tmux).')
