// Scripts by which shells complete what is typed; they ask the command itself what could come next.

import { own } from '../../base/own.js'
import { defineCommand } from '../command.js'
import { UsageError } from '../flags.js'

const scripts: { readonly [shell: string]: string } = {
  bash: `# bash completion for clusterctl; load it with: source <(clusterctl completion bash)
__clusterctl_complete() {
  local i word line prefix last
  local -a joined=()
  COMPREPLY=()
  # Bash cuts words at : and =, too; they are put together again.
  for (( i = 1; i <= COMP_CWORD; i++ )); do
    word="\${COMP_WORDS[i]}"
    last=$(( \${#joined[@]} - 1 ))
    if (( last >= 0 )) && [[ "$word" == [:=]* || "\${joined[last]}" == *[:=] ]]; then joined[last]+="$word"; else joined+=("$word"); fi
  done
  word="\${joined[\${#joined[@]}-1]}"
  prefix=
  # What stands before the last of them is there already.
  if [[ "$word" == *[:=]* ]]; then prefix="\${word%"\${word##*[:=]}"}"; fi
  while IFS= read -r line; do COMPREPLY+=("\${line#"$prefix"}"); done < <(clusterctl __complete "\${joined[@]}" 2>/dev/null)
  # What a value begins with is not yet a word.
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
  about: 'print a script by which a shell completes what is typed',
  examples: ['completion bash'],
  flags: {},
  run: async ({ args, io }) => {
    const [shell = '', ...more] = args
    const script = own(scripts, shell)
    if (script === undefined || more.length > 0) throw new UsageError(`name one shell: ${Object.keys(scripts).join(', ')}`)
    io.out(script)
    return 0
  },
})
