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
  'diff.ignoreSubmodules': 'dirty',
  'diff.submodule': 'short',
  'status.submoduleSummary': 'false',
}

/**
 * Some programs can be disabled only by options, and filters only by name, so bash gets a function `git`. An empty
 * setting disables a filter. The dirty state of submodules is ignored, because git would query them without these
 * settings.
 */
const gitFunction = `() {
  local -a options=()
  local name
  while IFS= read -r -d '' name; do
    local -x "GIT_CONFIG_KEY_$GIT_CONFIG_COUNT=$name" "GIT_CONFIG_VALUE_$GIT_CONFIG_COUNT="
    local -x GIT_CONFIG_COUNT=$((GIT_CONFIG_COUNT + 1))
  done < <(command git config --null --name-only --get-regexp '^filter\\..*\\.(clean|smudge|process|required)$' 2>/dev/null)
  if [ "$1" = --no-pager ]; then options=(--no-pager); shift; fi
  case "$1" in
    diff) options+=("$1" --no-ext-diff --no-textconv --ignore-submodules=dirty); shift ;;
    show|log) options+=("$1" --no-ext-diff --no-textconv); shift ;;
    blame) options+=("$1" --no-textconv); shift ;;
    status) options+=("$1" --ignore-submodules=dirty); shift ;;
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
