// Kubeconfig: types of its entries, parser and merge.

import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import type { OptionNames } from '@cluster-apiserver/api/base/unknown-options.js'
import { readYaml } from '@cluster-apiserver/api/codec/yaml/read-yaml.js'
import { ConfigError } from '../errors.js'

export interface ClusterEntry {
  readonly server?: string
  readonly 'tls-server-name'?: string
  readonly 'insecure-skip-tls-verify'?: boolean
  readonly 'certificate-authority'?: string
  readonly 'certificate-authority-data'?: string
  readonly 'proxy-url'?: string
  readonly 'disable-compression'?: boolean
  readonly extensions?: readonly Extension[]
}

export interface UserEntry {
  readonly 'client-certificate'?: string
  readonly 'client-certificate-data'?: string
  readonly 'client-key'?: string
  readonly 'client-key-data'?: string
  readonly token?: string
  readonly tokenFile?: string
  readonly username?: string
  readonly password?: string
  readonly as?: string
  readonly 'as-uid'?: string
  readonly 'as-groups'?: readonly string[]
  readonly 'as-user-extra'?: { readonly [key: string]: readonly string[] }
  readonly exec?: ExecEntry
  readonly 'auth-provider'?: Fields
  readonly extensions?: readonly Extension[]
}

export interface ContextEntry {
  readonly cluster?: string
  readonly user?: string
  readonly namespace?: string
  readonly extensions?: readonly Extension[]
}

export interface ExecEntry {
  readonly apiVersion?: string
  readonly command?: string
  readonly args?: readonly string[]
  readonly env?: readonly { readonly name: string; readonly value: string }[]
  readonly installHint?: string
  readonly provideClusterInfo?: boolean
  readonly interactiveMode?: string
}

interface Extension {
  readonly name: string
  readonly extension: unknown
}

/** One kubeconfig, or several merged: entries by name, in file order. */
export interface ClientConfig {
  readonly clusters: ReadonlyMap<string, ClusterEntry>
  readonly users: ReadonlyMap<string, UserEntry>
  readonly contexts: ReadonlyMap<string, ContextEntry>
  readonly currentContext: string
}

export const clusterNames: OptionNames<ClusterEntry> = {
  server: true,
  'tls-server-name': true,
  'insecure-skip-tls-verify': true,
  'certificate-authority': true,
  'certificate-authority-data': true,
  'proxy-url': true,
  'disable-compression': true,
  extensions: true,
}
export const userNames: OptionNames<UserEntry> = {
  'client-certificate': true,
  'client-certificate-data': true,
  'client-key': true,
  'client-key-data': true,
  token: true,
  tokenFile: true,
  username: true,
  password: true,
  as: true,
  'as-uid': true,
  'as-groups': true,
  'as-user-extra': true,
  exec: true,
  'auth-provider': true,
  extensions: true,
}

export const emptyConfig: ClientConfig = { clusters: new Map(), users: new Map(), contexts: new Map(), currentContext: '' }

/** Parses a kubeconfig; `path` is for messages. Relative paths stay relative. Throws a ConfigError with the path of the field. */
export function readConfigText(text: string, path: string): ClientConfig {
  let value: unknown
  try {
    value = readYaml(text).value
  } catch (cause) {
    throw new ConfigError(`${path}: ${errorMessage(cause)}`, { cause })
  }
  if (value === null) return emptyConfig
  const reader = new FieldReader(path, '', value)
  const [apiVersion, kind] = [reader.text('apiVersion') ?? '', reader.text('kind') ?? '']
  if ((kind !== '' && kind !== 'Config') || (apiVersion !== '' && apiVersion !== 'v1')) {
    throw new ConfigError(`${path}: kind ${JSON.stringify(kind)} of apiVersion ${JSON.stringify(apiVersion)} is not a Config of v1`)
  }
  return {
    clusters: reader.namedEntries('clusters', 'cluster', readCluster),
    users: reader.namedEntries('users', 'user', readUser),
    contexts: reader.namedEntries('contexts', 'context', readContext),
    currentContext: reader.text('current-context') ?? '',
  }
}

const readCluster = (reader: FieldReader): ClusterEntry =>
  reader.withoutUndefined({
    server: reader.text('server'),
    'tls-server-name': reader.text('tls-server-name'),
    'insecure-skip-tls-verify': reader.flag('insecure-skip-tls-verify'),
    'certificate-authority': reader.text('certificate-authority'),
    'certificate-authority-data': reader.base64('certificate-authority-data'),
    'proxy-url': reader.text('proxy-url'),
    'disable-compression': reader.flag('disable-compression'),
    extensions: readExtensions(reader),
  })

const readUser = (reader: FieldReader): UserEntry =>
  reader.withoutUndefined({
    'client-certificate': reader.text('client-certificate'),
    'client-certificate-data': reader.base64('client-certificate-data'),
    'client-key': reader.text('client-key'),
    'client-key-data': reader.base64('client-key-data'),
    token: reader.text('token'),
    tokenFile: reader.text('tokenFile'),
    username: reader.text('username'),
    password: reader.text('password'),
    as: reader.text('as'),
    'as-uid': reader.text('as-uid'),
    'as-groups': reader.texts('as-groups'),
    'as-user-extra': reader.textLists('as-user-extra'),
    exec: reader.inner('exec', readExec),
    'auth-provider': reader.inner('auth-provider', ({ fields }) => fields),
    extensions: readExtensions(reader),
  })

const readContext = (reader: FieldReader): ContextEntry =>
  reader.withoutUndefined({
    cluster: reader.text('cluster'),
    user: reader.text('user'),
    namespace: reader.text('namespace'),
    extensions: readExtensions(reader),
  })

const readExec = (reader: FieldReader): ExecEntry =>
  reader.withoutUndefined({
    apiVersion: reader.text('apiVersion'),
    command: reader.text('command'),
    args: reader.texts('args'),
    env: reader.list('env', (item) => ({ name: item.text('name') ?? '', value: item.text('value') ?? '' })),
    installHint: reader.text('installHint'),
    provideClusterInfo: reader.flag('provideClusterInfo'),
    interactiveMode: reader.text('interactiveMode'),
  })

const readExtensions = (reader: FieldReader): readonly Extension[] | undefined =>
  reader.list('extensions', (item) => ({ name: item.text('name') ?? '', extension: item.fields['extension'] }))

type Fields = { readonly [name: string]: unknown }

type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

class FieldReader {
  readonly fields: Fields
  private readonly file: string
  private readonly path: string

  constructor(file: string, path: string, value: unknown) {
    this.file = file
    this.path = path
    if (typeof value !== 'object' || value === null || Array.isArray(value)) this.fail('', 'is not a mapping')
    this.fields = value as Fields
  }

  text(name: string): string | undefined {
    const value = this.fields[name]
    if (value === undefined || value === null) return undefined
    if (typeof value !== 'string') this.fail(name, 'is not a string')
    return value
  }

  flag(name: string): boolean | undefined {
    const value = this.fields[name]
    if (value === undefined || value === null) return undefined
    if (typeof value !== 'boolean') this.fail(name, 'is not a boolean')
    return value
  }

  base64(name: string): string | undefined {
    const text = this.text(name)?.replaceAll(/\s/g, '')
    if (text !== undefined && (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text))) this.fail(name, 'is not base64')
    return text
  }

  texts(name: string): readonly string[] | undefined {
    return this.textList(name, this.fields[name])
  }

  textLists(name: string): { readonly [key: string]: readonly string[] } | undefined {
    return this.inner(name, (reader) =>
      Object.fromEntries(Object.entries(reader.fields).map(([key, value]) => [key, reader.textList(key, value) ?? []])),
    )
  }

  inner<T>(name: string, read: (reader: FieldReader) => T): T | undefined {
    const value = this.fields[name]
    return value === undefined || value === null ? undefined : read(new FieldReader(this.file, this.pathOf(name), value))
  }

  list<T>(name: string, read: (reader: FieldReader) => T): readonly T[] | undefined {
    const value = this.fields[name]
    if (value === undefined || value === null) return undefined
    if (!Array.isArray(value)) this.fail(name, 'is not a list')
    return value.map((item, index) => read(new FieldReader(this.file, `${this.pathOf(name)}[${index}]`, item)))
  }

  /** Reads a list of named entries. The first of two with the same name wins. */
  namedEntries<T>(list: string, member: string, read: (reader: FieldReader) => T): ReadonlyMap<string, T> {
    const entries = new Map<string, T>()
    this.list(list, (item) => {
      const name = item.text('name') ?? ''
      const entry = item.inner(member, read) ?? read(new FieldReader(this.file, item.pathOf(member), {}))
      if (!entries.has(name)) entries.set(name, entry)
    })
    return entries
  }

  withoutUndefined<T extends object>(entry: T): Defined<T> {
    return Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined)) as Defined<T>
  }

  private textList(name: string, value: unknown): readonly string[] | undefined {
    if (value === undefined || value === null) return undefined
    if (!Array.isArray(value) || value.some((item) => typeof item !== 'string')) this.fail(name, 'is not a list of strings')
    return value as readonly string[]
  }

  private pathOf(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`
  }

  private fail(name: string, problem: string): never {
    const path = name === '' ? this.path : this.pathOf(name)
    throw new ConfigError(`${this.file}: ${path === '' ? 'the document' : path} ${problem}`)
  }
}

export function mergeConfigs(configs: readonly ClientConfig[]): ClientConfig {
  return {
    clusters: firstOfEach(configs.map(({ clusters }) => clusters)),
    users: firstOfEach(configs.map(({ users }) => users)),
    contexts: firstOfEach(configs.map(({ contexts }) => contexts)),
    currentContext: configs.find(({ currentContext }) => currentContext !== '')?.currentContext ?? '',
  }
}

/** Merges whole entries, as client-go does: the first file with a name wins, also if a later one has more fields. */
function firstOfEach<T>(maps: readonly ReadonlyMap<string, T>[]): ReadonlyMap<string, T> {
  const merged = new Map<string, T>()
  for (const map of maps) for (const [name, entry] of map) if (!merged.has(name)) merged.set(name, entry)
  return merged
}
