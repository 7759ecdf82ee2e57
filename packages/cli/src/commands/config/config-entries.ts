// `config` commands for entries: get, set and delete clusters and users; delete contexts.

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { UserEntry } from '@cluster-apiserver/client/config/kubeconfig.js'
import { loadConfig } from '@cluster-apiserver/client/node/load-kubeconfig.js'
import { type Command, defineCommand } from '../../command-line/command.js'
import { CommandError } from '../../command-line/errors.js'
import { UsageError } from '../../command-line/flags.js'
import { changeDocument, entryOf, fileWith, type Section, withEntry } from './kubeconfig-file.js'

const listCommand = (section: 'clusters' | 'users'): Command =>
  defineCommand({
    usage: `config get-${section}`,
    flags: {},
    run: async ({ flags, io }) => {
      const names = [...loadConfig({ file: flags.kubeconfig })[section].keys()]
      io.out(`NAME\n${names.map((name) => `${name}\n`).join('')}`)
      return 0
    },
  })

export const getClusters = listCommand('clusters')
export const getUsers = listCommand('users')

const deleteCommand = (section: Section): Command =>
  defineCommand({
    usage: `config delete-${section.slice(0, -1)} NAME`,
    flags: {},
    run: async ({ args, flags, io }) => {
      const [name, ...extraArgs] = args
      if (name === undefined || extraArgs.length > 0) throw new UsageError(`exactly one ${section.slice(0, -1)} NAME is required`)
      const file = fileWith(flags.kubeconfig, section, name)
      await changeDocument(file, (document) => {
        if (entryOf(document, section, name) === undefined)
          throw new CommandError(`cannot delete ${section.slice(0, -1)} ${name}, not in ${file}`)
        return withEntry(document, section, name, undefined)
      })
      if (section === 'contexts' && loadConfig({ file: flags.kubeconfig }).currentContext === name)
        io.err(`warning: this removed your active context, use "clusterctl config use-context" to select a different one\n`)
      io.out(`deleted ${section.slice(0, -1)} ${name} from ${file}\n`)
      return 0
    },
  })

export const deleteCluster = deleteCommand('clusters')
export const deleteUser = deleteCommand('users')
export const deleteContext = deleteCommand('contexts')

export const setCluster = defineCommand({
  usage:
    'config set-cluster NAME [--server=…] [--certificate-authority=…] [--embed-certs] [--insecure-skip-tls-verify] [--tls-server-name=…] [--proxy-url=…]',
  flags: {
    'embed-certs': { kind: 'switch', help: 'embed the file content instead of its path' },
    'proxy-url': { kind: 'text', help: 'proxy URL of the cluster' },
    'insecure-skip-tls-verify': { kind: 'text', bare: 'true', help: 'true: do not verify the server certificate; false: verify it' },
  },
  run: async ({ args, flags, io }) => {
    const [name, ...extraArgs] = args
    if (name === undefined || extraArgs.length > 0) throw new UsageError('exactly one cluster NAME is required')
    const authority = flags['certificate-authority']
    const insecure = flags['insecure-skip-tls-verify']
    if (insecure !== undefined && insecure !== 'true' && insecure !== 'false')
      throw new UsageError(`--insecure-skip-tls-verify must be true or false, not "${insecure}"`)
    if (insecure === 'true' && authority !== undefined)
      throw new UsageError('you cannot specify a certificate authority and insecure mode at the same time')
    const next = {
      ...(flags.server === undefined ? {} : { server: flags.server }),
      ...(authority === undefined ? {} : fileOrData('certificate-authority', authority, flags['embed-certs'])),
      ...(insecure === 'true' ? { 'insecure-skip-tls-verify': true } : {}),
      ...(flags['tls-server-name'] === undefined ? {} : { 'tls-server-name': flags['tls-server-name'] }),
      ...(flags['proxy-url'] === undefined ? {} : { 'proxy-url': flags['proxy-url'] }),
    }
    const stale = [
      ...(authority !== undefined || insecure === 'true' ? ['certificate-authority', 'certificate-authority-data'] : []),
      ...(authority !== undefined || insecure === 'false' ? ['insecure-skip-tls-verify'] : []),
      ...(flags.server === undefined ? [] : ['tls-server-name']),
    ]
    await changeDocument(fileWith(flags.kubeconfig, 'clusters', name), (document) =>
      withEntry(document, 'clusters', name, { ...without(entryOf(document, 'clusters', name), stale), ...next }),
    )
    io.out(`Cluster "${name}" set.\n`)
    return 0
  },
})

export const setCredentials = defineCommand({
  usage:
    'config set-credentials NAME [--token=…] [--client-certificate=… --client-key=…] [--embed-certs] [--username=… --password=…] [--exec-command=… --exec-api-version=… --exec-arg=… --exec-env=KEY=VALUE]',
  flags: {
    'embed-certs': { kind: 'switch', help: 'embed the file contents instead of their paths' },
    'exec-command': { kind: 'text', help: 'command of the credential plugin' },
    'exec-api-version': { kind: 'text', help: 'apiVersion of the credential plugin' },
    'exec-arg': { kind: 'list', help: 'arguments of the credential plugin' },
    'exec-env': { kind: 'texts', help: 'environment of the plugin: KEY=VALUE; KEY- removes one' },
    'auth-provider': { kind: 'text', help: 'auth provider, for other clients; clusterctl does not support it' },
    'auth-provider-arg': { kind: 'texts', help: 'settings of the auth provider: KEY=VALUE; KEY- removes one' },
  },
  run: async ({ args, flags, io }) => {
    const [name, ...extraArgs] = args
    if (name === undefined || extraArgs.length > 0) throw new UsageError('exactly one user NAME is required')
    if (flags.token !== undefined && (flags.username !== undefined || flags.password !== undefined))
      throw new UsageError('you cannot specify more than one authentication method at the same time: --token, --username/--password')
    const { 'client-certificate': certificate, 'client-key': key, token } = flags
    const hasPassword = flags.username !== undefined || flags.password !== undefined
    if (flags['embed-certs'] && certificate === undefined && key === undefined)
      throw new UsageError('you must specify a --client-certificate or --client-key to embed')
    const next = {
      ...(token === undefined ? {} : { token }),
      ...(flags.username === undefined ? {} : { username: flags.username }),
      ...(flags.password === undefined ? {} : { password: flags.password }),
      ...(certificate === undefined ? {} : fileOrData('client-certificate', certificate, flags['embed-certs'])),
      ...(key === undefined ? {} : fileOrData('client-key', key, flags['embed-certs'])),
    }
    const stale = [
      ...(certificate === undefined ? [] : ['client-certificate', 'client-certificate-data']),
      ...(key === undefined ? [] : ['client-key', 'client-key-data']),
      ...(token === undefined ? [] : ['username', 'password']),
      ...(hasPassword ? ['token'] : []),
    ]
    await changeDocument(fileWith(flags.kubeconfig, 'users', name), (document) =>
      withEntry(
        document,
        'users',
        name,
        withPlugin(withProvider({ ...without(entryOf(document, 'users', name), stale), ...next }, flags), flags),
      ),
    )
    io.out(`User "${name}" set.\n`)
    return 0
  },
})

interface ProviderFlags {
  readonly 'auth-provider': string | undefined
  readonly 'auth-provider-arg': readonly string[]
}

function withProvider(user: UserEntry, { 'auth-provider': name, 'auth-provider-arg': texts }: ProviderFlags): UserEntry {
  if (name === undefined && texts.length === 0) return user
  const existing = (user['auth-provider'] ?? {}) as { readonly name?: string; readonly config?: { readonly [key: string]: string } }
  if (name === undefined && existing.name === undefined) throw new UsageError('--auth-provider-arg requires --auth-provider')
  const config = changedPairs(
    new Map(Object.entries((name ?? existing.name) === existing.name ? (existing.config ?? {}) : {})),
    texts,
    'auth-provider-arg',
  )
  return {
    ...user,
    'auth-provider': { name: name ?? existing.name, ...(config.size === 0 ? {} : { config: Object.fromEntries(config) }) },
  }
}

/** `KEY=VALUE` sets a pair, `KEY-` removes it. */
function changedPairs(pairs: Map<string, string>, texts: readonly string[], flag: string): ReadonlyMap<string, string> {
  for (const text of texts) {
    const equals = text.indexOf('=')
    if (equals > 0) pairs.set(text.slice(0, equals), text.slice(equals + 1))
    else if (equals < 0 && text.length > 1 && text.endsWith('-')) pairs.delete(text.slice(0, -1))
    else throw new UsageError(`--${flag} takes KEY=VALUE, or KEY- to remove one, not "${text}"`)
  }
  return pairs
}

interface PluginFlags {
  readonly 'exec-command': string | undefined
  readonly 'exec-api-version': string | undefined
  readonly 'exec-arg': readonly string[]
  readonly 'exec-env': readonly string[]
}

/** Merges the flags into the existing exec entry; --exec-env=KEY- removes a variable. */
function withPlugin(user: UserEntry, flags: PluginFlags): object {
  const { 'exec-command': command, 'exec-api-version': apiVersion, 'exec-arg': args, 'exec-env': variables } = flags
  if (command === undefined && apiVersion === undefined && args.length === 0 && variables.length === 0) return user
  const existing = user.exec ?? {}
  const env = changedPairs(new Map((existing.env ?? []).map(({ name, value }) => [name, value])), variables, 'exec-env')
  const exec = {
    ...existing,
    ...(apiVersion === undefined ? {} : { apiVersion }),
    ...(command === undefined ? {} : { command }),
    ...(args.length === 0 ? {} : { args }),
    ...(env.size === 0 && existing.env === undefined ? {} : { env: [...env].map(([name, value]) => ({ name, value })) }),
    interactiveMode: existing.interactiveMode ?? 'IfAvailable',
  }
  for (const [flag, value] of [
    ['exec-command', exec.command],
    ['exec-api-version', exec.apiVersion],
  ] as const)
    if (value === undefined) throw new UsageError(`--${flag} is required for a new exec plugin`)
  return { ...user, exec }
}

const fileOrData = (name: string, path: string, isEmbedded: boolean): object =>
  isEmbedded ? { [`${name}-data`]: readFileSync(path).toString('base64') } : { [name]: resolve(path) }

const without = (entry: object | undefined, names: readonly string[]): object =>
  Object.fromEntries(Object.entries(entry ?? {}).filter(([name]) => !names.includes(name)))
