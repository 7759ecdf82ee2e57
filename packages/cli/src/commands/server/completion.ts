// `completion`: scripts for bash, zsh and fish, which call `clusterctl __complete`.

import { own } from '@cluster-apiserver/api/base/own-property.js'
import { defineCommand } from '../../command-line/command.js'
import { UsageError } from '../../command-line/flags.js'

const scripts: { readonly [shell: string]: string } = {
  bash: `# bash completion for clusterctl; load it with: source <(clusterctl completion bash)
__clusterctl_complete() {
  local i word line prefix last
  local -a joined=()
  COMPREPLY=()
  # Bash also splits words at : and =; join them again.
  for (( i = 1; i <= COMP_CWORD; i++ )); do
    word="\${COMP_WORDS[i]}"
    last=$(( \${#joined[@]} - 1 ))
    if (( last >= 0 )) && [[ "$word" == [:=]* || "\${joined[last]}" == *[:=] ]]; then joined[last]+="$word"; else joined+=("$word"); fi
  done
  word="\${joined[\${#joined[@]}-1]}"
  prefix=
  # Bash keeps the part before the last : or =.
  if [[ "$word" == *[:=]* ]]; then prefix="\${word%"\${word##*[:=]}"}"; fi
  while IFS= read -r line; do COMPREPLY+=("\${line#"$prefix"}"); done < <(clusterctl __complete "\${joined[@]}" 2>/dev/null)
  # No space after an incomplete value.
  if [[ \${#COMPREPLY[@]} -eq 1 && "\${COMPREPLY[0]}" == *[=/] ]] && type compopt &> /dev/null; then compopt -o nospace; fi
}
complete -o default -F __clusterctl_complete clusterctl
`,
  zsh: `#compdef clusterctl
# zsh completion for clusterctl; load it with: source <(clusterctl completion zsh)
_clusterctl() {
  local -a found
  found=("\${(@f)$(clusterctl __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  (( \${#found[@]} )) && [[ -n "\${found[1]}" ]] && compadd -a found || _files
}
compdef _clusterctl clusterctl
`,
  fish: `# fish completion for clusterctl; load it with: clusterctl completion fish | source
function __clusterctl_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l found (clusterctl __complete $words[2..-1] 2>/dev/null)
  if test -n "$found"
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c clusterctl -f -a '(__clusterctl_complete)'
`,
}

export const command = defineCommand({
  usage: 'completion (bash | zsh | fish)',
  examples: ['completion bash'],
  flags: {},
  run: async ({ args, io }) => {
    const [shell = '', ...extraArgs] = args
    const script = own(scripts, shell)
    if (script === undefined || extraArgs.length > 0)
      throw new UsageError(`exactly one shell is required: ${Object.keys(scripts).join(', ')}`)
    io.out(script)
    return 0
  },
})
