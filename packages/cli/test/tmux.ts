import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { watchedChild } from '../../../test/support/children/watched-children.ts'
import { noHome } from './fake-io.ts'

export const hasTmux = spawnSync('tmux', ['-V']).status === 0

export interface Terminal {
  /** The current screen. */
  screen(): string
  /** Everything that was written, including the scrollback. */
  history(): string
  title(): string
  isCursorShown(): boolean
  keys(...keys: string[]): void
  type(text: string): void
  resize(columns: number, rows: number): void
  /** Waits until the screen shows it. */
  shows(text: string | RegExp): Promise<void>
  /** Waits until the command has ended, and returns its exit code. */
  ended(): Promise<number>
}

/** A real terminal that runs a command: keys in, screen out. Closed after the test. */
export function openTerminal(command: readonly string[], columns = 80, rows = 24, cwd = '/'): Terminal {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-tmux-'))
  const { NO_COLOR: _, FORCE_COLOR: __, ANTHROPIC_API_KEY: ___, TMUX: ____, ...env } = process.env
  const tmux = (...args: string[]): string =>
    execFileSync('tmux', ['-u', '-S', join(folder, 'socket'), '-f', '/dev/null', ...args], {
      encoding: 'utf8',
      env: { ...env, ...watchedChild, SIGNALBOX_HOME: noHome, LANG: 'C.UTF-8', LC_ALL: 'C.UTF-8' },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  const words = command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
  // stays open after the command has ended, so that the last picture can be read
  const line = `${words}; echo "[exit $?]"; exec sleep 1000`
  tmux('new-session', '-d', '-s', 's', '-x', `${columns}`, '-y', `${rows}`, '-c', cwd, line)
  onTestFinished(() => {
    try {
      tmux('kill-server')
    } catch {
      // already closed
    }
    rmSync(folder, { recursive: true, force: true })
  })
  const screen = () => tmux('capture-pane', '-p', '-t', 's')
  const history = () => tmux('capture-pane', '-p', '-J', '-S', '-', '-t', 's')
  return {
    screen,
    history,
    title: () => tmux('display-message', '-p', '-t', 's', '#{pane_title}').trim(),
    isCursorShown: () => tmux('display-message', '-p', '-t', 's', '#{cursor_flag}').trim() === '1',
    keys: (...keys) => void tmux('send-keys', '-t', 's', ...keys),
    type: (text) => void tmux('send-keys', '-t', 's', '-l', text),
    resize: (width, height) => void tmux('resize-window', '-t', 's', '-x', `${width}`, '-y', `${height}`),
    shows: (text) =>
      expect
        .poll(screen, { interval: 100 })
        .toEqual(text instanceof RegExp ? expect.stringMatching(text) : expect.stringContaining(text)),
    async ended() {
      await expect.poll(history, { interval: 100 }).toMatch(/^\[exit \d+\]$/m)
      return Number(/^\[exit (\d+)\]$/m.exec(history())?.[1])
    },
  }
}
