// Help of clusterctl, of command groups and of commands; exit codes; alternatives to unsupported commands.

import type { Command } from './command.js'
import { type CommandEntry, commands } from './command-table.js'
import type { FlagTable } from './flags.js'
import { globalFlags } from './global-flags.js'

export function mainHelp(): string {
  const width = Math.max(...Object.keys(commands).map((name) => name.length))
  const lines = Object.entries(commands).map(([name, { about }]) => `  ${name.padEnd(width)}  ${about}\n`)
  return `clusterctl is a command line client for the API of a cluster.\n\n${lines.join('')}\nGlobal flags:\n${flagLines(globalFlags)}\nExit codes:\n${exitCodes}\nUse "clusterctl COMMAND --help" for the flags of a command.\n`
}

const exitCodes = `  0    success
  1    failure or wrong usage; auth can-i: not allowed; diff: differences
  2    diff: failure or wrong usage
  130  interrupted; port-forward and proxy end with 0
  141  the reader of the output closed the pipe
  exec and diff with KUBECTL_EXTERNAL_DIFF pass on the exit code of the program.
`

export function groupHelp(first: string): string {
  const lines = Object.entries(commands).filter(([name]) => name.startsWith(`${first} `))
  return `${lines.map(([name, { about }]) => `  clusterctl ${name}: ${about}\n`).join('')}`
}

export function commandHelp(words: readonly string[], { about }: CommandEntry, command: Command): string {
  const examples = (command.examples ?? []).map((line) => `  clusterctl ${line}\n`).join('')
  const flags = flagLines(command.flags)
  return [
    `${about}.\n\nUsage:\n  clusterctl ${command.usage}\n`,
    examples === '' ? '' : `\nExamples:\n${examples}`,
    flags === '' ? '' : `\nFlags:\n${flags}`,
    `\nUse "clusterctl help" for the global flags.\n`,
  ]
    .join('')
    .replace('{}', words.join(' '))
}

function flagLines(table: FlagTable): string {
  const rows = Object.entries(table).map(([name, spec]) => {
    const value = spec.kind === 'switch' ? '' : spec.bare === undefined ? ' VALUE' : `[=${spec.bare}]`
    return [`${spec.short === undefined ? '    ' : `-${spec.short}, `}--${name}${value}`, spec.help] as const
  })
  const width = Math.max(0, ...rows.map(([left]) => left.length))
  return rows.map(([left, help]) => `  ${left.padEnd(width)}  ${help}\n`).join('')
}

export const unsupportedCommands: { readonly [command: string]: string } = {
  autoscale: 'apply a HorizontalPodAutoscaler from a file',
  'cluster-info': 'use "clusterctl config view --minify" for the server, and "clusterctl get --raw /readyz?verbose" for its health',
  debug: 'use "clusterctl exec"',
  kustomize: 'pipe the output of kustomize into "clusterctl apply -f -"',
  options: 'use "clusterctl help" for the global flags',
  plugin: 'plugins are not supported',
  'set resources': 'use "clusterctl patch" or "clusterctl edit"',
  'set selector': 'use "clusterctl patch"',
  'set serviceaccount': 'use "clusterctl patch" or "clusterctl edit"',
  'set subject': 'use "clusterctl edit" or "clusterctl create rolebinding"',
}
