// Reads the EncryptionConfiguration: encrypted resources and their providers and keys.

import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import { readYaml } from '@cluster-apiserver/api/codec/yaml/read-yaml.js'
import { definitions } from '@cluster-apiserver/api/resources/index.js'
import { type Fields, mappingOf, onlyFields } from '../admission/config/config-fields.js'
import { cipherOf, type Key, type Method } from '../storage/encryption-at-rest/ciphers.js'
import type { EncryptionRules, Provider } from '../storage/encryption-at-rest/encryption-providers.js'

export function parseEncryptionConfig(text: string, identity: Identity): EncryptionRules {
  const config = mappingOf(readYaml(text).value, 'the file')
  const isLegacyKind = config['kind'] === 'EncryptionConfig' && config['apiVersion'] === 'v1'
  const apiVersion = `${identity.group({ stem: 'apiserver.config' })}/v1`
  if (!isLegacyKind && (config['kind'] !== 'EncryptionConfiguration' || config['apiVersion'] !== apiVersion))
    throw new Error(`it is not an EncryptionConfiguration of ${apiVersion}`)
  onlyFields(config, ['kind', 'apiVersion', 'resources'], '')
  const rules = new Map<string, readonly Provider[]>()
  for (const [i, item] of nonEmptyList(config['resources'], 'resources').entries()) {
    const where = `resources[${i}]`
    const rule = mappingOf(item, where)
    onlyFields(rule, ['resources', 'providers'], where)
    const providers = nonEmptyList(rule['providers'], `${where}.providers`).flatMap((provider, k) =>
      providersOf(mappingOf(provider, `${where}.providers[${k}]`), `${where}.providers[${k}]`),
    )
    for (const [k, name] of nonEmptyList(rule['resources'], `${where}.resources`).entries()) {
      const collection = collectionOf(name, `${where}.resources[${k}]`)
      // As in kube-apiserver, the first rule for a resource wins.
      if (!rules.has(collection)) rules.set(collection, providers)
    }
  }
  return rules
}

/** Unknown resources of known groups are probably misspelled. */
export function unknownEncrypted(rules: EncryptionRules, identity: Identity): readonly string[] {
  const knownNames = new Set<string>()
  const groups = new Set<string>()
  for (const { group, resource } of definitions) {
    const name = identity.group(group)
    groups.add(name)
    knownNames.add(name === '' ? resource : `${resource}.${name}`)
  }
  return [...rules.keys()].filter((name) => {
    const dot = name.indexOf('.')
    return !knownNames.has(name) && groups.has(dot < 0 ? '' : name.slice(dot + 1))
  })
}

function collectionOf(name: unknown, where: string): string {
  if (typeof name !== 'string' || name === '') throw new Error(`${where}: must be a resource such as "secrets" or "deployments.apps"`)
  if (name.includes('*')) throw new Error(`${where}: ${JSON.stringify(name)} is a pattern, which is not supported; list each resource`)
  if (name.includes('/')) throw new Error(`${where}: ${JSON.stringify(name)} must have the format "resource.group"`)
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
      return ciphersOf(name, mappingOf(provider[name], `${where}.${name}`), `${where}.${name}`)
    case 'secretbox':
      throw new Error(`${where}.secretbox: is not supported, because Node.js has no XSalsa20; use aesgcm`)
    case 'kms':
      throw new Error(`${where}.kms: key management services are not supported; use aesgcm`)
    default:
      throw new Error(`${where}: unknown provider ${JSON.stringify(name)}; choose from aesgcm, aescbc, identity`)
  }
}

function ciphersOf(method: Method, config: Fields, where: string): readonly Provider[] {
  onlyFields(config, ['keys'], where)
  const seen = new Set<string>()
  return nonEmptyList(config['keys'], `${where}.keys`).map((item, i) => {
    const key = keyOf(mappingOf(item, `${where}.keys[${i}]`), `${where}.keys[${i}]`)
    if (seen.has(key.name)) throw new Error(`${where}.keys[${i}].name: ${JSON.stringify(key.name)} is the name of another key`)
    seen.add(key.name)
    return cipherOf(method, key)
  })
}

function keyOf(fields: Fields, where: string): Key {
  onlyFields(fields, ['name', 'secret'], where)
  const { name, secret } = fields
  if (typeof name !== 'string' || name === '' || name.includes(':')) throw new Error(`${where}.name: must be a text without a colon`)
  const bytes = typeof secret === 'string' && /^[A-Za-z0-9+/]+={0,2}$/.test(secret) ? Buffer.from(secret, 'base64') : undefined
  if (bytes === undefined || !keyBytes.includes(bytes.length))
    throw new Error(`${where}.secret: must be the base64 of 16, 24 or 32 random bytes, such as of "head -c 32 /dev/urandom | base64"`)
  return { name, secret: bytes }
}

function nonEmptyList(value: unknown, where: string): readonly unknown[] {
  if (!Array.isArray(value) || value.length === 0) throw new Error(`${where}: must be a list with at least one element`)
  return value
}
