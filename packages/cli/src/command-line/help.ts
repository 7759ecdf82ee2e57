// What the command tells about itself.

import type { Command } from './command.js'
import { type CommandEntry, commands } from './command-table.js'
import type { FlagTable } from './flags.js'
import { usualFlags } from './usual-flags.js'

export function wholeHelp(): string {
  const width = Math.max(...Object.keys(commands).map((name) => name.length))
  const lines = Object.entries(commands).map(([name, { about }]) => `  ${name.padEnd(width)}  ${about}\n`)
  return `clusterctl talks to the API of a cluster.\n\n${lines.join('')}\nFlags of all commands:\n${flagLines(usualFlags)}\nUse "clusterctl COMMAND --help" for more about one of them.\n`
}

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
    `\nFlags of all commands are told by "clusterctl help".\n`,
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
