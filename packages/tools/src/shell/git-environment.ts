/**
 * For commands that run without a prompt: git starts no program that a repository names, ignores bare repositories
 * that it finds by chance, and writes nothing.
 */
const settings = {
  'safe.bareRepository': 'explicit',
  'core.fsmonitor': 'false',
  'core.hooksPath': '/dev/null',
  'core.pager': 'cat',
  'core.editor': 'false',
  'core.sshCommand': 'false',
  'core.askPass': 'false',
  'credential.helper': '',
  'log.showSignature': 'false',
  'gpg.program': 'false',
  'gpg.ssh.program': 'false',
  'gpg.x509.program': 'false',
  'submodule.recurse': 'false',
  'diff.ignoreSubmodules': 'all',
  'status.submoduleSummary': 'false',
}

/** External diffs and conversions are turned off by options only, not by settings: so bash gets a function `git`. */
const gitFunction = `() {
  local -a options=()
  if [ "$1" = --no-pager ]; then options=(--no-pager); shift; fi
  case "$1" in
    diff|show|log) options+=("$1" --no-ext-diff --no-textconv); shift ;;
    blame) options+=("$1" --no-textconv); shift ;;
  esac
  command git "\${options[@]}" "$@"
}`

export const gitEnvironment: Readonly<Record<string, string>> = {
  GIT_CONFIG_COUNT: String(Object.keys(settings).length),
  ...Object.fromEntries(
    Object.entries(settings).flatMap(([key, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, key],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  ),
  'BASH_FUNC_git%%': gitFunction,
  GIT_OPTIONAL_LOCKS: '0',
  GIT_PAGER: 'cat',
  GIT_NO_LAZY_FETCH: '1',
  GIT_ALLOW_PROTOCOL: 'none',
}
