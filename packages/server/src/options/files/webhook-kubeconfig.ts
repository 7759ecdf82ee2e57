// A client configuration that names a service of somebody else: where webhooks are, and as whom the server comes to them.

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { dirname, resolve } from 'node:path'
import { readYaml } from '../codec/yaml/read-yaml.js'
import type { KeyPair } from '../net/issue-certificate.js'
import type { EndpointSettings } from '../net/json-endpoint.js'
import { type ReadText, readFromDisk } from './options/file-texts.js'

type Fields = { readonly [name: string]: unknown }

/** How long what a file holds counts before it is read again. */
const fileLastsMs = 60_000

/** The service that the current context of a configuration names. Throws one sentence where it is not clear or cannot be done. */
export function readConnection(path: string, text: string, readText: ReadText = readFromDisk): EndpointSettings {
  const configuration = fieldsOf(readYaml(text).value) ?? {}
  const { cluster, user } = currentContext(configuration)
  const server = textIn(cluster, 'server')
  if (server === '') throw new Error('it names no server to reach')
  if (textIn(cluster, 'proxy-url') !== '') throw new Error('"proxy-url" is not supported')
  const place = { folder: dirname(path), readText }
  const ca = material(place, cluster, 'certificate-authority')
  const serverName = textIn(cluster, 'tls-server-name')
  return {
    url: server,
    insecure: cluster['insecure-skip-tls-verify'] === true,
    ...(ca === undefined ? {} : { ca }),
    ...(serverName === '' ? {} : { serverName }),
    ...credentialsOf(place, user),
  }
}

/** As whom the server comes to others, by where they are. */
export type FindCredentials = (target: string) => Credentials | undefined

export type Credentials = Pick<EndpointSettings, 'clientPair' | 'authorization'>

/** The users of a configuration that are named after hosts: `host:port`, `*.example.com:443`, `*`; the current context names the last resort. */
export function readCredentials(path: string, text: string, readText: ReadText = readFromDisk): FindCredentials {
  const configuration = fieldsOf(readYaml(text).value) ?? {}
  const place = { folder: dirname(path), readText }
  const users = new Map<string, Credentials>()
  for (const item of itemsOf(configuration, 'users')) users.set(textIn(item, 'name'), credentialsOf(place, fieldsOf(item['user']) ?? {}))
  const current = named(configuration, 'contexts', textIn(configuration, 'current-context'))
  const lastResort = textIn(fieldsOf(current?.['context']) ?? {}, 'user')
  return (target) => {
    const withoutPort = target.endsWith(usualPort) ? [target.slice(0, -usualPort.length)] : []
    for (const name of [target, ...withoutPort].flatMap(spellingsOf)) {
      const found = users.get(name)
      if (found !== undefined) return found
    }
    return users.get('*') ?? users.get(lastResort)
  }
}

const usualPort = ':443'

/** Itself, and with a star for its first words. */
function spellingsOf(target: string): readonly string[] {
  const words = target.split('.')
  return [target, ...words.slice(1).map((_, i) => `*.${words.slice(i + 1).join('.')}`)]
}

function credentialsOf(place: Place, user: Fields): Credentials {
  for (const plugin of ['exec', 'auth-provider']) if (user[plugin] !== undefined) throw new Error(`"${plugin}" is not supported for a user`)
  const clientPair = clientPairOf(place, user)
  const authorization = authorizationOf(place, user)
  return {
    ...(clientPair === undefined ? {} : { clientPair }),
    ...(authorization === undefined ? {} : { authorization }),
  }
}

/** Files of it are read again: certificates are renewed. */
function clientPairOf({ folder, readText }: Place, user: Fields): (() => KeyPair) | undefined {
  const readWith = (read: ReadText): KeyPair | undefined => {
    const place = { folder, readText: read }
    const cert = material(place, user, 'client-certificate')
    const key = material(place, user, 'client-key')
    if ((cert === undefined) !== (key === undefined)) throw new Error('a client certificate and its key go together')
    return cert === undefined || key === undefined ? undefined : { cert, key }
  }
  const first = readWith(readText)
  if (first === undefined) return undefined
  return followed(first, (last) => {
    const next = readWith(readFromDisk)
    if (next === undefined || (next.cert === last.cert && next.key === last.key)) return last
    if (!new X509Certificate(next.cert).checkPrivateKey(createPrivateKey(next.key)))
      throw new Error('the key is that of another certificate')
    return next
  })
}

interface Context {
  readonly cluster: Fields
  readonly user: Fields
}

/** What the current context names; without one, the only cluster and the only user. */
function currentContext(configuration: Fields): Context {
  const current = textIn(configuration, 'current-context')
  const context = current === '' ? undefined : named(configuration, 'contexts', current)
  if (current !== '' && context === undefined) throw new Error(`it has no context ${JSON.stringify(current)}`)
  const details = fieldsOf(context?.['context']) ?? {}
  return {
    cluster: partOf(configuration, { list: 'clusters', member: 'cluster', name: textIn(details, 'cluster') }) ?? {},
    user: partOf(configuration, { list: 'users', member: 'user', name: textIn(details, 'user') }) ?? {},
  }
}

function partOf(
  configuration: Fields,
  { list, member, name }: { readonly list: string; readonly member: string; readonly name: string },
): Fields | undefined {
  const all = itemsOf(configuration, list)
  const found = name === '' ? (all.length === 1 ? all[0] : undefined) : named(configuration, list, name)
  if (name !== '' && found === undefined) throw new Error(`it has no ${member} ${JSON.stringify(name)}`)
  return fieldsOf(found?.[member])
}

const named = (configuration: Fields, list: string, name: string): Fields | undefined =>
  itemsOf(configuration, list).find((item) => item['name'] === name)

const itemsOf = (configuration: Fields, list: string): readonly Fields[] => {
  const items = configuration[list]
  return Array.isArray(items) ? items.map(fieldsOf).filter((item) => item !== undefined) : []
}

const fieldsOf = (value: unknown): Fields | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined

function textIn(fields: Fields, name: string): string {
  const value = fields[name] ?? ''
  if (typeof value !== 'string') throw new Error(`"${name}" is no text`)
  return value
}

/** Where other files are that it names. */
interface Place {
  readonly folder: string
  readonly readText: ReadText
}

/** A PEM text, in the file itself or in another one. */
function material({ folder, readText }: Place, fields: Fields, name: string): string | undefined {
  const inline = textIn(fields, `${name}-data`)
  if (inline !== '') return Buffer.from(inline, 'base64').toString('utf8')
  const path = textIn(fields, name)
  return path === '' ? undefined : readText(resolve(folder, path))
}

function authorizationOf({ folder, readText }: Place, user: Fields): (() => string) | undefined {
  const token = textIn(user, 'token')
  if (token !== '') return () => `Bearer ${token}`
  const file = textIn(user, 'tokenFile')
  if (file !== '') {
    const path = resolve(folder, file)
    const find = followed(readText(path), () => readFromDisk(path))
    return () => `Bearer ${find().trim()}`
  }
  const [name, password] = [textIn(user, 'username'), textIn(user, 'password')]
  if (name === '' && password === '') return undefined
  return () => `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`
}

/**
 * Reads a file that another process renews. While it cannot be read or parsed, the last content counts.
 */
function followed<T>(first: T, read: (last: T) => T): () => T {
  let value = first
  let readAtMs = Number.NEGATIVE_INFINITY
  return () => {
    if (performance.now() - readAtMs >= fileLastsMs) {
      readAtMs = performance.now()
      try {
        value = read(value)
      } catch {
        // It is being replaced.
      }
    }
    return value
  }
}
