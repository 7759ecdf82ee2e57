// `config view`: prints the merged kubeconfig; secrets are redacted unless --raw or --flatten is given.

import { readFileSync } from 'node:fs'
import { loadConfig } from '@cluster-apiserver/client/node/load-kubeconfig.js'
import { defineCommand } from '../../command-line/command.js'
import { CommandError } from '../../command-line/errors.js'
import { UsageError } from '../../command-line/flags.js'
import { outputOf, printFlags } from '../../output/print-flags.js'
import { printerFor } from '../../output/printer.js'

const secrets = ['token', 'password', 'client-key-data', 'client-certificate-data', 'certificate-authority-data']
const dataFields = {
  'certificate-authority': 'certificate-authority-data',
  'client-certificate': 'client-certificate-data',
  'client-key': 'client-key-data',
} as const

export const command = defineCommand({
  usage: 'config view [--raw] [--minify] [--flatten] [-o json|yaml|jsonpath=…]',
  flags: {
    raw: { kind: 'switch', help: 'show secrets' },
    minify: { kind: 'switch', help: 'show only the current context' },
    flatten: { kind: 'switch', help: 'self-contained output with secrets and file contents' },
    merge: { kind: 'switch', initial: 'true', help: 'false: only the file of --kubeconfig' },
    ...printFlags,
  },
  takesNoArguments: true,
  run: async ({ flags, io }) => {
    if (!flags.merge && flags.kubeconfig === undefined)
      throw new UsageError('if merge==false a precise file must be specified with --kubeconfig')
    const config = loadConfig({ file: flags.kubeconfig })
    const current = flags.context ?? config.currentContext
    const context = config.contexts.get(current)
    if (flags.minify && context === undefined)
      throw new CommandError(
        flags.context === undefined ? 'current-context must exist in order to minify' : `cannot locate context ${current}`,
      )
    const redacted = (entry: object): object =>
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
    const entries = <T extends object>(all: ReadonlyMap<string, T>, member: string, minifiedTo: string | undefined): readonly object[] =>
      [...all].filter(([name]) => !flags.minify || name === minifiedTo).map(([name, entry]) => ({ [member]: redacted(entry), name }))
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
  for (const [name, data] of Object.entries(dataFields)) {
    const path = flat[name]
    if (typeof path !== 'string') continue
    delete flat[name]
    flat[data] = readFileSync(path).toString('base64')
  }
  return flat
}
