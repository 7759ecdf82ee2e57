// The help text: the table of flags, grouped, aligned and wrapped to a terminal of 100 columns.

import type { FlagDefinition, FlagGroup } from './flag.js'

const width = 100
const widestHead = 42

/** What stands for the value in `--flag <value>`. */
function placeholder(flag: FlagDefinition): string {
  if (flag.kind === 'boolean') return ''
  if (flag.kind === 'choice' && flag.choices.join('|').length <= 24) return ` ${flag.choices.join('|')}`
  if (flag.kind === 'list' || flag.kind === 'choices') return ' <list>'
  if (flag.kind === 'files') return ' <file>'
  if (flag.kind === 'texts') return ' <text>'
  if (flag.kind === 'integer' || flag.kind === 'number') return ' <number>'
  return ` <${flag.kind === 'choice' ? 'name' : flag.kind}>`
}

const headOf = (flag: FlagDefinition): string => `${flag.effect === 'none' ? '* ' : '  '}--${flag.name}${placeholder(flag)}`

function explanation(flag: FlagDefinition): string {
  const isPlain = flag.default === undefined || (flag.kind === 'boolean' && flag.default === 'false')
  return isPlain ? flag.help : `${flag.help} (default ${flag.default})`
}

function wrap(text: string, room: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > room) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}

function renderFlag(flag: FlagDefinition, column: number): readonly string[] {
  const head = headOf(flag)
  const lines = wrap(explanation(flag), width - column)
  const margin = ' '.repeat(column)
  // A head that reaches into the column stands on its own line.
  if (head.length + 2 > column) return [head, ...lines.map((line) => margin + line)]
  return lines.map((line, index) => (index === 0 ? head.padEnd(column) : margin) + line)
}

/** What works comes first. */
const inOrder = (flags: readonly FlagDefinition[]): readonly FlagDefinition[] => [
  ...flags.filter((flag) => flag.effect === 'now'),
  ...flags.filter((flag) => flag.effect === 'none'),
]

const intro = [
  'cluster-apiserver: the API of a container cluster, in one process.',
  '',
  'Usage: cluster-apiserver [--flag=value | --flag value | --boolean-flag]…',
  '       cluster-apiserver backup|restore|migrate   moves what is stored; --help says how',
  '       cluster-apiserver credentials              a certificate or token for a user; --help says how',
  '       cluster-apiserver check <file>…            holds manifests against all rules; --help says how',
  '       cluster-apiserver admission replay         recorded reviews, sent again; --help says how',
  '       cluster-apiserver codec                    objects from one form to another; --help says how',
  '',
  ...wrap('A list is separated by commas, or the flag is given several times. A duration is written like 90s, 5m or 1h30m.', width),
  'Flags marked with * are accepted for compatibility, and have no effect.',
].join('\n')

export function renderHelp(groups: readonly FlagGroup[]): string {
  const heads = groups.flatMap((group) => group.flags.map((flag) => headOf(flag).length + 2))
  const column = Math.max(...heads.filter((length) => length <= widestHead))
  const sections = groups.map((group) => [group.title, ...inOrder(group.flags).flatMap((flag) => renderFlag(flag, column))].join('\n'))
  return `${[intro, ...sections].join('\n\n')}\n`
}
