// Shows the client configuration, without its secrets.

import { readFileSync } from 'node:fs'
import { loadConfig } from '../../client/node/load-config.js'
import { defineCommand } from '../command.js'
import { Failure } from '../failure.js'
import { UsageError } from '../flags.js'
import { outputOf, printFlags } from '../output/print-flags.js'
import { printerFor } from '../output/printer.js'

const secrets = ['token', 'password', 'client-key-data', 'client-certificate-data', 'certificate-authority-data']
const files = {
  'certificate-authority': 'certificate-authority-data',
  'client-certificate': 'client-certificate-data',
  'client-key': 'client-key-data',
} as const

export const command = defineCommand({
  usage: 'config view [--raw] [--minify] [--flatten] [-o json|yaml|jsonpath=…]',
  about: 'show the client configuration',
  flags: {
    raw: { kind: 'switch', help: 'with secrets' },
    minify: { kind: 'switch', help: 'only what the current context uses' },
    flatten: { kind: 'switch', help: 'with secrets and with what is in files, to be used elsewhere' },
    merge: { kind: 'switch', initial: 'true', help: 'false: only one file, without those beside it' },
    ...printFlags,
  },
  takesNoWords: true,
  run: async ({ flags, io }) => {
    if (!flags.merge && flags.kubeconfig === undefined)
      throw new UsageError('if merge==false a precise file must be specified with --kubeconfig')
    const config = loadConfig({ file: flags.kubeconfig })
    const current = flags.context ?? config.currentContext
    const context = config.contexts.get(current)
    if (flags.minify && context === undefined)
      throw new Failure(flags.context === undefined ? 'current-context must exist in order to minify' : `cannot locate context ${current}`)
    const shown = (entry: object): object =>
      Object.fromEntries(
        Object.entries(flags.flatten ? withFiles(entry) : entry).map(([name, value]) => [
          name,
          secrets.includes(name) && !flags.raw && !flags.flatten && value !== undefined
            ? name.endsWith('-data')
              ? 'DATA+OMITTED'
              : 'REDACTED'
            : value,
        ]),
      )
    const entries = <T extends object>(all: ReadonlyMap<string, T>, member: string, only: string | undefined): readonly object[] =>
      [...all].filter(([name]) => !flags.minify || name === only).map(([name, entry]) => ({ [member]: shown(entry), name }))
    const document = {
      apiVersion: 'v1',
      clusters: entries(config.clusters, 'cluster', context?.cluster),
      contexts: entries(config.contexts, 'context', current),
      'current-context': current,
      kind: 'Config',
      preferences: {},
      users: entries(config.users, 'user', context?.user),
    }
    io.out(printerFor({ flags: { ...flags, output: outputOf(flags) || 'yaml' }, nameOf: () => '' }).print([document as never], false))
    return 0
  },
})

function withFiles(entry: object): object {
  const flat: Record<string, unknown> = { ...entry }
  for (const [name, data] of Object.entries(files)) {
    const path = flat[name]
    if (typeof path !== 'string') continue
    delete flat[name]
    flat[data] = readFileSync(path).toString('base64')
  }
  return flat
}
