import type { WrapCommand } from '@signalbox/tools'

/**
 * Runs each command in bubblewrap: it can write to the workspace and nowhere else, has no network, sees none of the
 * user's own files, and nothing that it starts can outlive it.
 */
export const inBubblewrap =
  (root: string): WrapCommand =>
  ({ file, args, cwd, env }) => ({
    file: 'bwrap',
    args: [
      ...['/usr', '/bin', '/lib', '/lib64', '/etc/alternatives'].flatMap((path) => ['--ro-bind-try', path, path]),
      ...['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp'],
      ...['--bind', root, root, '--chdir', cwd],
      ...['--unshare-all', '--die-with-parent', '--'],
      ...[file, ...args],
    ],
    cwd,
    env,
  })
