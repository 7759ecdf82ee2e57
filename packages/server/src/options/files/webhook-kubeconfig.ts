// Kubeconfig of a webhook: its address and the credentials of this server.

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { dirname, resolve } from 'node:path'
import { readYaml } from '@cluster-apiserver/api/codec/yaml/read-yaml.js'
import { isRecord } from '@cluster-apiserver/api/schema/json/read.js'
import type { EndpointSettings } from '../../net/outbound/json-endpoint.js'
import type { KeyPair } from '../../net/tls/issue-certificate.js'
import { type ReadText, readFromDisk } from '../settings-input.js'

type Fields = { readonly [name: string]: unknown }

/** Minimum age at which files of credentials are read again. */
const reloadMs = 60_000

export function readConnection(path: string, text: string, readText: ReadText = readFromDisk): EndpointSettings {
  const configuration = fieldsOf(readYaml(text).value) ?? {}
  const { cluster, user } = currentContext(configuration)
  const server = textIn(cluster, 'server')
  if (server === '') throw new Error('it has no server')
  if (textIn(cluster, 'proxy-url') !== '') throw new Error('"proxy-url" is not supported')
  const files = { folder: dirname(path), readText }
  const ca = readPem(files, cluster, 'certificate-authority')
  const serverName = textIn(cluster, 'tls-server-name')
  return {
    url: server,
    insecure: cluster['insecure-skip-tls-verify'] === true,
    ...(ca === undefined ? {} : { ca }),
    ...(serverName === '' ? {} : { serverName }),
    ...credentialsOf(files, user),
  }
}

export type FindCredentials = (target: string) => Credentials | undefined

type Credentials = Pick<EndpointSettings, 'clientPair' | 'authorization'>

/** Users are named after webhook hosts: `host:port`, `*.example.com:443`, `*`. The default is the user of the current context. */
export function readCredentials(path: string, text: string, readText: ReadText = readFromDisk): FindCredentials {
  const configuration = fieldsOf(readYaml(text).value) ?? {}
  const files = { folder: dirname(path), readText }
  const users = new Map<string, Credentials>()
  for (const item of itemsOf(configuration, 'users')) users.set(textIn(item, 'name'), credentialsOf(files, fieldsOf(item['user']) ?? {}))
  const current = findByName(configuration, 'contexts', textIn(configuration, 'current-context'))
  const defaultUser = textIn(fieldsOf(current?.['context']) ?? {}, 'user')
  return (target) => {
    const withoutPort = target.endsWith(defaultPort) ? [target.slice(0, -defaultPort.length)] : []
    for (const name of [target, ...withoutPort].flatMap(patternsOf)) {
      const found = users.get(name)
      if (found !== undefined) return found
    }
    return users.get('*') ?? users.get(defaultUser)
  }
}

const defaultPort = ':443'

/** The host and its wildcard patterns, the most specific first. */
function patternsOf(target: string): readonly string[] {
  const labels = target.split('.')
  return [target, ...labels.slice(1).map((_, i) => `*.${labels.slice(i + 1).join('.')}`)]
}

function credentialsOf(files: FileContext, user: Fields): Credentials {
  for (const plugin of ['exec', 'auth-provider']) if (user[plugin] !== undefined) throw new Error(`"${plugin}" is not supported for a user`)
  const clientPair = clientPairOf(files, user)
  const authorization = authorizationOf(files, user)
  return {
    ...(clientPair === undefined ? {} : { clientPair }),
    ...(authorization === undefined ? {} : { authorization }),
  }
}

function clientPairOf({ folder, readText }: FileContext, user: Fields): (() => KeyPair) | undefined {
  const readWith = (read: ReadText): KeyPair | undefined => {
    const files = { folder, readText: read }
    const cert = readPem(files, user, 'client-certificate')
    const key = readPem(files, user, 'client-key')
    if ((cert === undefined) !== (key === undefined)) throw new Error('a client certificate and its key must be given together')
    return cert === undefined || key === undefined ? undefined : { cert, key }
  }
  const first = readWith(readText)
  if (first === undefined) return undefined
  return reloading(first, (last) => {
    const next = readWith(readFromDisk)
    if (next === undefined || (next.cert === last.cert && next.key === last.key)) return last
    if (!new X509Certificate(next.cert).checkPrivateKey(createPrivateKey(next.key)))
      throw new Error('the key does not belong to the certificate')
    return next
  })
}

interface Context {
  readonly cluster: Fields
  readonly user: Fields
}

/** Without a current context: the only cluster and user. */
function currentContext(configuration: Fields): Context {
  const current = textIn(configuration, 'current-context')
  const context = current === '' ? undefined : findByName(configuration, 'contexts', current)
  if (current !== '' && context === undefined) throw new Error(`it has no context ${JSON.stringify(current)}`)
  const details = fieldsOf(context?.['context']) ?? {}
  return {
    cluster: findEntry(configuration, { list: 'clusters', member: 'cluster', name: textIn(details, 'cluster') }) ?? {},
    user: findEntry(configuration, { list: 'users', member: 'user', name: textIn(details, 'user') }) ?? {},
  }
}

function findEntry(
  configuration: Fields,
  { list, member, name }: { readonly list: string; readonly member: string; readonly name: string },
): Fields | undefined {
  const all = itemsOf(configuration, list)
  const found = name === '' ? (all.length === 1 ? all[0] : undefined) : findByName(configuration, list, name)
  if (name !== '' && found === undefined) throw new Error(`it has no ${member} ${JSON.stringify(name)}`)
  return fieldsOf(found?.[member])
}

const findByName = (configuration: Fields, list: string, name: string): Fields | undefined =>
  itemsOf(configuration, list).find((item) => item['name'] === name)

const itemsOf = (configuration: Fields, list: string): readonly Fields[] => {
  const items = configuration[list]
  return Array.isArray(items) ? items.map(fieldsOf).filter((item) => item !== undefined) : []
}

const fieldsOf = (value: unknown): Fields | undefined => (isRecord(value) ? value : undefined)

function textIn(fields: Fields, name: string): string {
  const value = fields[name] ?? ''
  if (typeof value !== 'string') throw new Error(`"${name}" must be a string`)
  return value
}

interface FileContext {
  readonly folder: string
  readonly readText: ReadText
}

function readPem({ folder, readText }: FileContext, fields: Fields, name: string): string | undefined {
  const inline = textIn(fields, `${name}-data`)
  if (inline !== '') return Buffer.from(inline, 'base64').toString('utf8')
  const path = textIn(fields, name)
  return path === '' ? undefined : readText(resolve(folder, path))
}

function authorizationOf({ folder, readText }: FileContext, user: Fields): (() => string) | undefined {
  const token = textIn(user, 'token')
  if (token !== '') return () => `Bearer ${token}`
  const file = textIn(user, 'tokenFile')
  if (file !== '') {
    const path = resolve(folder, file)
    const readToken = reloading(readText(path), () => readFromDisk(path))
    return () => `Bearer ${readToken().trim()}`
  }
  const [name, password] = [textIn(user, 'username'), textIn(user, 'password')]
  if (name === '' && password === '') return undefined
  return () => `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`
}

/** Reads a file that another process renews; keeps the last valid content. */
function reloading<T>(first: T, read: (last: T) => T): () => T {
  let value = first
  let readAtMs = Number.NEGATIVE_INFINITY
  return () => {
    if (performance.now() - readAtMs >= reloadMs) {
      readAtMs = performance.now()
      try {
        value = read(value)
      } catch {
        // The file is being replaced.
      }
    }
    return value
  }
}
