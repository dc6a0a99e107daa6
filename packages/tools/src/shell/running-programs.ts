/** Programs that run another program, given among their words. */
interface Wrapper {
  /** Number of their own operands before the program, besides options. */
  readonly operands?: number
  /** Their words may be a script for a shell. */
  readonly takesText?: boolean
  /** Words from elsewhere are appended. */
  readonly addsWords?: boolean
}

const plain: Wrapper = {}
const text: Wrapper = { takesText: true }

export const wrappers: Readonly<Record<string, Wrapper>> = {
  ...Object.fromEntries(
    `sudo doas env nice nohup setsid time command builtin exec stdbuf ionice unshare nsenter bwrap fakeroot ltrace
    strace catchsegv eatmydata proxychains torsocks dbus-run-session xvfb-run caffeinate gtimeout npx bunx pnpx uvx
    pipx dumb-init tini valgrind prlimit setarch linux32 linux64 unbuffer rlwrap systemd-run numactl coproc !`
      .split(/\s+/)
      .map((name) => [name, plain]),
  ),
  ...Object.fromEntries(
    'su runuser script watch parallel sem entr tmux screen expect xterm at batch'
      .split(' ')
      .map((name) => [name, text]),
  ),
  timeout: { operands: 1 },
  chroot: { operands: 1 },
  taskset: { operands: 1 },
  chrt: { operands: 1 },
  flock: { operands: 1, takesText: true },
  ssh: { operands: 1, takesText: true },
  busybox: plain,
  toybox: plain,
  xargs: { addsWords: true },
}

export const shells: ReadonlySet<string> = new Set(
  'sh bash dash ash zsh ksh mksh pdksh yash rbash fish csh tcsh'.split(' '),
)

/** Options whose value is a command: after `=`, or as the next word. */
const commandOptions: Readonly<Record<string, RegExp>> = {
  tar: /^(?:--to-command|--use-compress-program|--info-script|--new-volume-script|--rsh-command|--checkpoint-action|-I|-F)$/,
  split: /^--filter$/,
  rsync: /^(?:-e|--rsh|--rsync-path)$/,
  sort: /^--compress-program$/,
  rg: /^(?:--pre|--hostname-bin)$/,
  fd: /^(?:-x|-X|--exec|--exec-batch)$/,
  fdfind: /^(?:-x|-X|--exec|--exec-batch)$/,
  man: /^(?:-P|--pager)$/,
  git: /^(?:-x|--exec|-O|--open-files-in-pager|--upload-pack|--receive-pack|--extcmd|--[\w-]+-filter|-u)$/,
  scp: /^-[SDo]$/,
  sftp: /^-[SDo]$/,
  ssh: /^-o$/,
  mapfile: /^-C$/,
  readarray: /^-C$/,
  compgen: /^-[CF]$/,
  complete: /^-[CF]$/,
  hash: /^-p$/,
}

/** The scripts that a program's options pass to a shell. */
export function commandsInOptions(program: string, args: readonly (string | undefined)[]): (string | undefined)[] {
  const known = Object.hasOwn(commandOptions, program) ? commandOptions[program] : undefined
  if (known === undefined) return []
  return args.flatMap((word, index) => {
    if (word === undefined) return []
    const [option = '', ...rest] = word.split('=')
    if (known.test(option)) return [withoutKey(rest.length > 0 ? rest.join('=') : args[index + 1])]
    // a value directly after its letter
    return /^-[A-Za-z]./.test(word) && known.test(word.slice(0, 2)) ? [withoutKey(word.slice(2))] : []
  })
}

/** `exec=rm x` and `ProxyCommand=rm x` have a name before the command. */
const withoutKey = (value: string | undefined): string | undefined => value?.replace(/^(?:exec|\w*Command)=/i, '')

/** The words at which a wrapped program may begin: after options, their values, assignments and own operands. */
export function wrappedStarts(args: readonly (string | undefined)[], operands: number): number[] {
  const starts: number[] = []
  let left = operands
  for (let index = 0; index < args.length; index++) {
    const word = args[index]
    if (word !== undefined && (/^[-+]./.test(word) || /^[A-Za-z_]\w*=/.test(word))) continue
    const before = args[index - 1]
    const mayBeValue =
      index > 0 && before !== undefined && /^-/.test(before) && before !== '--' && !before.includes('=')
    if (left > 0 && !mayBeValue) left--
    else {
      starts.push(index)
      // the word after an option may be its value, and then the program follows it
      if (!mayBeValue) break
    }
  }
  return starts
}
