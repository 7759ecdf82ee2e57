// The text of --help: usage, exit codes and all flags by group, wrapped to 100 columns.

import type { FlagDefinition, FlagGroup } from './flag.js'

const width = 100
const maxHeadColumns = 42

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
  const hasNoDefault = flag.default === undefined || (flag.kind === 'boolean' && flag.default === 'false')
  return hasNoDefault ? flag.help : `${flag.help} (default ${flag.default})`
}

function wrap(text: string, columns: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > columns) {
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
  // A long flag has a line of its own.
  if (head.length + 2 > column) return [head, ...lines.map((line) => margin + line)]
  return lines.map((line, index) => (index === 0 ? head.padEnd(column) : margin) + line)
}

const effectiveFirst = (flags: readonly FlagDefinition[]): readonly FlagDefinition[] => [
  ...flags.filter((flag) => flag.effect !== 'none'),
  ...flags.filter((flag) => flag.effect === 'none'),
]

const intro = [
  'cluster-apiserver: the API server of a container cluster, in one process.',
  '',
  'Usage: cluster-apiserver [--flag=value | --flag value | --boolean-flag]…',
  '       cluster-apiserver backup|restore|migrate   copies the store to or from a file or engine',
  '       cluster-apiserver credentials              issues a client certificate or token for a user',
  '       cluster-apiserver check <file>…            validates manifests without a server',
  '       cluster-apiserver admission replay         sends recorded AdmissionReviews to a webhook again',
  '       cluster-apiserver codec                    converts an object between JSON, YAML and Protobuf',
  '       cluster-apiserver envtest [<folder>]       writes the commands that envtest starts',
  '       cluster-apiserver testserver [flags]       runs a disposable server with a test kit',
  'Each command has its own --help.',
  '',
  ...wrap('A list is comma-separated, or the flag is repeated. Durations are written as 90s, 5m or 1h30m.', width),
  'Flags marked with * are accepted for compatibility and have no effect.',
  '',
  'Exit codes of the server and of all commands:',
  '  0  success; the server was shut down gracefully',
  '  1  failure; the server could not start, crashed, or was stopped by a second signal before',
  '     its shutdown was complete; `check` found problems',
  '  2  invalid command line: an unknown flag, an invalid value, or an invalid file that a flag names',
].join('\n')

export function renderHelp(groups: readonly FlagGroup[]): string {
  const headColumns = groups.flatMap((group) => group.flags.map((flag) => headOf(flag).length + 2))
  const column = Math.max(...headColumns.filter((length) => length <= maxHeadColumns))
  const sections = groups.map((group) =>
    [group.title, ...effectiveFirst(group.flags).flatMap((flag) => renderFlag(flag, column))].join('\n'),
  )
  return `${[intro, ...sections].join('\n\n')}\n`
}
