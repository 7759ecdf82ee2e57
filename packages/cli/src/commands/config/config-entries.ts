// Clusters and users of the client configuration: which there are, new ones, and gone ones.

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { UserEntry } from '../../client/config/config-entries.js'
import { loadConfig } from '../../client/node/load-config.js'
import { type Command, defineCommand } from '../command.js'
import { changeDocument, entryOf, fileWith, type Section, withEntry } from '../config-file.js'
import { Failure } from '../failure.js'
import { UsageError } from '../flags.js'

const listing = (section: 'clusters' | 'users'): Command =>
  defineCommand({
    usage: `config get-${section}`,
    about: `show the ${section} of the configuration`,
    flags: {},
    run: async ({ flags, io }) => {
      const names = [...loadConfig({ file: flags.kubeconfig })[section].keys()]
      io.out(`NAME\n${names.map((name) => `${name}\n`).join('')}`)
      return 0
    },
  })

export const getClusters = listing('clusters')
export const getUsers = listing('users')

const deleting = (section: Section): Command =>
  defineCommand({
    usage: `config delete-${section.slice(0, -1)} NAME`,
    about: `remove a ${section.slice(0, -1)} from the configuration`,
    flags: {},
    run: async ({ args, flags, io }) => {
      const [name, ...more] = args
      if (name === undefined || more.length > 0) throw new UsageError(`name one ${section.slice(0, -1)}`)
      const file = fileWith(flags.kubeconfig, section, name)
      await changeDocument(file, (document) => {
        if (entryOf(document, section, name) === undefined)
          throw new Failure(`cannot delete ${section.slice(0, -1)} ${name}, not in ${file}`)
        return withEntry(document, section, name, undefined)
      })
      if (section === 'contexts' && loadConfig({ file: flags.kubeconfig }).currentContext === name)
        io.err(`warning: this removed your active context, use "clusterctl config use-context" to select a different one\n`)
      io.out(`deleted ${section.slice(0, -1)} ${name} from ${file}\n`)
      return 0
    },
  })

export const deleteCluster = deleting('clusters')
export const deleteUser = deleting('users')
export const deleteContext = deleting('contexts')

export const setCluster = defineCommand({
  usage:
    'config set-cluster NAME [--server=…] [--certificate-authority=…] [--embed-certs] [--insecure-skip-tls-verify] [--tls-server-name=…] [--proxy-url=…]',
  about: 'make or change a cluster of the configuration',
  flags: {
    'embed-certs': { kind: 'switch', help: 'with what is in the file, and not its path' },
    'proxy-url': { kind: 'text', help: 'through which proxy it is reached' },
    'insecure-skip-tls-verify': { kind: 'text', bare: 'true', help: 'true: trust any server; false: not any more' },
  },
  run: async ({ args, flags, io }) => {
    const [name, ...more] = args
    if (name === undefined || more.length > 0) throw new UsageError('name one cluster')
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
      // A name that was for another server.
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
  about: 'make or change a user of the configuration',
  flags: {
    'embed-certs': { kind: 'switch', help: 'with what is in the files, and not their paths' },
    'exec-command': { kind: 'text', help: 'a program that gives credentials' },
    'exec-api-version': { kind: 'text', help: 'in which version it speaks' },
    'exec-arg': { kind: 'list', help: 'its arguments' },
    'exec-env': { kind: 'texts', help: 'its environment: KEY=VALUE; KEY- removes one' },
    'auth-provider': { kind: 'text', help: 'the name of a provider, for clients that know it; ours does not' },
    'auth-provider-arg': { kind: 'texts', help: 'its settings: KEY=VALUE; KEY- removes one' },
  },
  run: async ({ args, flags, io }) => {
    const [name, ...more] = args
    if (name === undefined || more.length > 0) throw new UsageError('name one user')
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
    // What would contradict the new, or go before it.
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

/** The same for a provider; another one begins without settings. */
function withProvider(user: UserEntry, { 'auth-provider': name, 'auth-provider-arg': texts }: ProviderFlags): UserEntry {
  if (name === undefined && texts.length === 0) return user
  const before = (user['auth-provider'] ?? {}) as { readonly name?: string; readonly config?: { readonly [key: string]: string } }
  if (name === undefined && before.name === undefined) throw new UsageError('--auth-provider names the provider that the settings are for')
  const config = changedPairs(
    new Map(Object.entries((name ?? before.name) === before.name ? (before.config ?? {}) : {})),
    texts,
    'auth-provider-arg',
  )
  return {
    ...user,
    'auth-provider': { name: name ?? before.name, ...(config.size === 0 ? {} : { config: Object.fromEntries(config) }) },
  }
}

/** `KEY=VALUE` sets one, `KEY-` takes one away. */
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

/** What is given goes over what is there; a variable with `-` behind its name goes. */
function withPlugin(user: UserEntry, flags: PluginFlags): object {
  const { 'exec-command': command, 'exec-api-version': apiVersion, 'exec-arg': args, 'exec-env': variables } = flags
  if (command === undefined && apiVersion === undefined && args.length === 0 && variables.length === 0) return user
  const before = user.exec ?? {}
  const env = changedPairs(new Map((before.env ?? []).map(({ name, value }) => [name, value])), variables, 'exec-env')
  const exec = {
    ...before,
    ...(apiVersion === undefined ? {} : { apiVersion }),
    ...(command === undefined ? {} : { command }),
    ...(args.length === 0 ? {} : { args }),
    ...(env.size === 0 && before.env === undefined ? {} : { env: [...env].map(([name, value]) => ({ name, value })) }),
    interactiveMode: before.interactiveMode ?? 'IfAvailable',
  }
  for (const [flag, value] of [
    ['exec-command', exec.command],
    ['exec-api-version', exec.apiVersion],
  ] as const)
    if (value === undefined) throw new UsageError(`--${flag} is needed for a plugin that is not there yet`)
  return { ...user, exec }
}

const fileOrData = (name: string, path: string, isEmbedded: boolean): object =>
  isEmbedded ? { [`${name}-data`]: readFileSync(path).toString('base64') } : { [name]: resolve(path) }

const without = (entry: object | undefined, names: readonly string[]): object =>
  Object.fromEntries(Object.entries(entry ?? {}).filter(([name]) => !names.includes(name)))
