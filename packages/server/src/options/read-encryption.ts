// The file of --encryption-provider-config: which resources are encrypted in the store, and with which keys.

import type { Identity } from '../../api/identity.js'
import { readYaml } from '../../codec/yaml/read-yaml.js'
import { definitions } from '../../resources/index.js'
import { cipherOf, type Key, type Method } from '../../storage/encryption/ciphers.js'
import type { EncryptionRules, Provider } from '../../storage/encryption/encryption.js'

/** Throws one sentence that names the field that is wrong. */
export function parseEncryptionConfig(text: string, identity: Identity): EncryptionRules {
  const config = mapping(readYaml(text).value, 'the file')
  const isOld = config['kind'] === 'EncryptionConfig' && config['apiVersion'] === 'v1'
  const apiVersion = `${identity.group({ stem: 'apiserver.config' })}/v1`
  if (!isOld && (config['kind'] !== 'EncryptionConfiguration' || config['apiVersion'] !== apiVersion))
    throw new Error(`it is not an EncryptionConfiguration of ${apiVersion}`)
  only(config, ['kind', 'apiVersion', 'resources'], '')
  const rules = new Map<string, readonly Provider[]>()
  for (const [i, each] of list(config['resources'], 'resources').entries()) {
    const where = `resources[${i}]`
    const rule = mapping(each, where)
    only(rule, ['resources', 'providers'], where)
    const providers = list(rule['providers'], `${where}.providers`).flatMap((provider, k) =>
      providersOf(mapping(provider, `${where}.providers[${k}]`), `${where}.providers[${k}]`),
    )
    for (const [k, name] of list(rule['resources'], `${where}.resources`).entries()) {
      const collection = collectionOf(name, `${where}.resources[${k}]`)
      // As in the reference, the first rule for a resource counts.
      if (!rules.has(collection)) rules.set(collection, providers)
    }
  }
  return rules
}

/** Names that are probably mistyped: of groups that this server has, and not among their resources. */
export function unknownEncrypted(rules: EncryptionRules, identity: Identity): readonly string[] {
  const known = new Set<string>()
  const groups = new Set<string>()
  for (const { group, resource } of definitions) {
    const name = identity.group(group)
    groups.add(name)
    known.add(name === '' ? resource : `${resource}.${name}`)
  }
  return [...rules.keys()].filter((name) => {
    const dot = name.indexOf('.')
    return !known.has(name) && groups.has(dot < 0 ? '' : name.slice(dot + 1))
  })
}

function collectionOf(name: unknown, where: string): string {
  if (typeof name !== 'string' || name === '') throw new Error(`${where}: a resource is named like "secrets" or "deployments.apps"`)
  if (name.includes('*'))
    throw new Error(`${where}: ${JSON.stringify(name)} is a pattern, which this release does not know: name each resource`)
  if (name.includes('/')) throw new Error(`${where}: ${JSON.stringify(name)} is not written "resource.group"`)
  return name
}

const keyBytes = [16, 24, 32]

function providersOf(provider: Fields, where: string): readonly Provider[] {
  const names = Object.keys(provider)
  const [name] = names
  if (name === undefined || names.length > 1) throw new Error(`${where}: names exactly one of aesgcm, aescbc, identity`)
  switch (name) {
    case 'identity':
      return [undefined]
    case 'aesgcm':
    case 'aescbc':
      return ciphersOf(name, mapping(provider[name], `${where}.${name}`), `${where}.${name}`)
    case 'secretbox':
      throw new Error(`${where}.secretbox: is not supported, because Node.js has no XSalsa20; use aesgcm`)
    case 'kms':
      throw new Error(`${where}.kms: key management services are not supported; use aesgcm`)
    default:
      throw new Error(`${where}: there is no provider ${JSON.stringify(name)}; choose from aesgcm, aescbc, identity`)
  }
}

function ciphersOf(method: Method, config: Fields, where: string): readonly Provider[] {
  only(config, ['keys'], where)
  const seen = new Set<string>()
  return list(config['keys'], `${where}.keys`).map((each, i) => {
    const key = keyOf(mapping(each, `${where}.keys[${i}]`), `${where}.keys[${i}]`)
    if (seen.has(key.name)) throw new Error(`${where}.keys[${i}].name: ${JSON.stringify(key.name)} is the name of another key, too`)
    seen.add(key.name)
    return cipherOf(method, key)
  })
}

function keyOf(fields: Fields, where: string): Key {
  only(fields, ['name', 'secret'], where)
  const { name, secret } = fields
  if (typeof name !== 'string' || name === '' || name.includes(':')) throw new Error(`${where}.name: must be a text without a colon`)
  const bytes = typeof secret === 'string' && /^[A-Za-z0-9+/]+={0,2}$/.test(secret) ? Buffer.from(secret, 'base64') : undefined
  if (bytes === undefined || !keyBytes.includes(bytes.length))
    throw new Error(`${where}.secret: must be the base64 of 16, 24 or 32 random bytes, such as of "head -c 32 /dev/urandom | base64"`)
  return { name, secret: bytes }
}

type Fields = { readonly [name: string]: unknown }

function mapping(value: unknown, where: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(`${where}: must be a mapping`)
  return value as Fields
}

function list(value: unknown, where: string): readonly unknown[] {
  if (!Array.isArray(value) || value.length === 0) throw new Error(`${where}: must be a list with at least one element`)
  return value
}

function only(fields: Fields, known: readonly string[], where: string): void {
  const unknown = Object.keys(fields).find((name) => !known.includes(name))
  if (unknown !== undefined) throw new Error(`${where === '' ? '' : `${where}.`}${unknown}: there is no such field`)
}
