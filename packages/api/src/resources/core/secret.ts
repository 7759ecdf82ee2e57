// Secret: stringData, size limit, required keys and annotations by type, immutability, printer columns.

import { defineResource, type RuleContext } from '../../api/definition/resource-definition.js'
import { type FieldError, invalid, required, tooLong } from '../../api/field-error.js'
import type { Identity } from '../../api/identity.js'
import { checkUnchanged, dnsSubdomainProblems } from '../../api/validation/checks.js'
import { sameValue } from '../../api/validation/same-value.js'
import { isSentEmpty } from '../../schema/json/sent-empty.js'
import { ageColumn, nameColumn, tableOf, textColumn } from '../printer-columns.js'
import { decodeText, encodeText } from './base64-text.js'
import { checkKeys, immutableError, isOverDataLimit, maxDataBytes } from './config-map.js'
import { readJsonText } from './json-text.js'
import { type Secret, secret as schema } from './v1.schema.js'

function withEncodedStringData(secret: Secret): Secret {
  const { stringData, ...rest } = secret
  if (stringData === undefined) return secret
  const encoded = Object.fromEntries(Object.entries(stringData).map(([key, text]) => [key, encodeText(text)]))
  return { ...rest, data: { ...secret.data, ...encoded } }
}

function defaults(secret: Secret): Secret {
  const encoded = withEncodedStringData(secret)
  return (encoded.type ?? '') === '' ? { ...encoded, type: 'Opaque' } : encoded
}

function validate(secret: Secret, { identity }: RuleContext): readonly FieldError[] {
  const errors = [...checkKeys(secret.data, 'data')]
  if (isOverDataLimit(undefined, secret.data)) errors.push(tooLong('data', maxDataBytes))
  const typeRule = typeRules(identity).get(secret.type ?? '')
  return typeRule === undefined ? errors : [...errors, ...typeRule(secret)]
}

type TypeRule = (secret: Secret) => readonly FieldError[]

const rulesByIdentity = new WeakMap<Identity, ReadonlyMap<string, TypeRule>>()

function typeRules(identity: Identity): ReadonlyMap<string, TypeRule> {
  const known = rulesByIdentity.get(identity)
  if (known !== undefined) return known
  const accountKey = identity.label('service-account.name')
  const rules = new Map<string, TypeRule>([
    [
      identity.label('service-account-token'),
      ({ metadata }) => ((metadata?.annotations?.[accountKey] ?? '') === '' ? [required(`metadata.annotations[${accountKey}]`)] : []),
    ],
    [identity.label('dockercfg'), requireJsonObject('.dockercfg')],
    [identity.label('dockerconfigjson'), requireJsonObject('.dockerconfigjson')],
    [
      identity.label('basic-auth'),
      ({ data }) => (hasKey(data, 'username') || hasKey(data, 'password') ? [] : missingKeys('username', 'password')),
    ],
    [identity.label('ssh-auth'), ({ data }) => ((data?.['ssh-privatekey'] ?? '') === '' ? missingKeys('ssh-privatekey') : [])],
    [identity.label('tls'), ({ data }) => missingKeys(...['tls.crt', 'tls.key'].filter((key) => !hasKey(data, key)))],
  ])
  rulesByIdentity.set(identity, rules)
  return rules
}

const hasKey = (data: Secret['data'], key: string): boolean => data !== undefined && Object.hasOwn(data, key)

const missingKeys = (...keys: readonly string[]): readonly FieldError[] => keys.map((key) => required(`data[${key}]`))

function requireJsonObject(key: string): TypeRule {
  return ({ data }) => {
    if (!hasKey(data, key)) return missingKeys(key)
    const problem = jsonObjectProblem(decodeText(data?.[key] ?? ''))
    return problem === undefined ? [] : [invalid(`data[${key}]`, '<secret contents redacted>', problem)]
  }
}

function jsonObjectProblem(text: string): string | undefined {
  const { value, problem } = readJsonText(text)
  return problem ?? (typeof value === 'object' && !Array.isArray(value) ? undefined : 'must be a JSON object')
}

function validateUpdate(next: Secret, old: Secret): readonly FieldError[] {
  const errors = [...checkUnchanged(next.type, old.type, 'type')]
  if (old.immutable !== true) return errors
  if (next.immutable !== true) errors.push(immutableError('immutable'))
  if (isSentEmpty(next, 'data') || !sameValue(next.data, old.data)) errors.push(immutableError('data'))
  return errors
}

export const secret = defineResource<Secret>({
  group: '',
  kind: 'Secret',
  resource: 'secrets',
  namespaced: true,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  defaults,
  validate,
  validateUpdate,
  checks: { update: ['metadataChange', 'validateUpdate', 'metadata', 'validate'] },
  selectableFields: { type: ({ type }) => type ?? '' },
  table: tableOf<Secret>(
    nameColumn,
    textColumn('Type', 'Type of the secret.', ({ type }) => type ?? ''),
    textColumn('Data', 'Number of keys.', ({ data }) => (data === undefined ? 0 : Object.keys(data).length)),
    ageColumn,
  ),
})
