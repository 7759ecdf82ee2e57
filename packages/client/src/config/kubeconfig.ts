// What a file of client configuration says, with the names that it has there; and how such a text is read.

import type { OptionNames } from '../../base/known-options.js'
import { readYaml } from '../../codec/yaml/read-yaml.js'
import { ConfigError } from '../errors.js'
import { FieldReader, type Fields } from './field-reader.js'

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

export interface Extension {
  readonly name: string
  readonly extension: unknown
}

/** What the files say together; every entry under its name, in the order of the files. Paths in it are whole. */
export interface ClientConfig {
  readonly clusters: ReadonlyMap<string, ClusterEntry>
  readonly users: ReadonlyMap<string, UserEntry>
  readonly contexts: ReadonlyMap<string, ContextEntry>
  readonly currentContext: string
}

/** What entries of programs may say; those of files may say more, for clients that are younger. */
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

/** `path` is for messages. Paths in the text stay as they are written. Throws a ConfigError that says where what is wrong. */
export function readConfigText(text: string, path: string): ClientConfig {
  let value: unknown
  try {
    value = readYaml(text).value
  } catch (cause) {
    throw new ConfigError(`${path}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
  if (value === null) return emptyConfig
  const reader = new FieldReader(path, '', value)
  const [apiVersion, kind] = [reader.text('apiVersion') ?? '', reader.text('kind') ?? '']
  if ((kind !== '' && kind !== 'Config') || (apiVersion !== '' && apiVersion !== 'v1')) {
    throw new ConfigError(`${path}: it is a ${kind} of version ${apiVersion}, and no Config of version v1`)
  }
  return {
    clusters: reader.named('clusters', 'cluster', readCluster),
    users: reader.named('users', 'user', readUser),
    contexts: reader.named('contexts', 'context', readContext),
    currentContext: reader.text('current-context') ?? '',
  }
}

const readCluster = (reader: FieldReader): ClusterEntry =>
  reader.only({
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
  reader.only({
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
  reader.only({
    cluster: reader.text('cluster'),
    user: reader.text('user'),
    namespace: reader.text('namespace'),
    extensions: readExtensions(reader),
  })

const readExec = (reader: FieldReader): ExecEntry =>
  reader.only({
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
