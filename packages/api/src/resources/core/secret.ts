// Secrets: confidential bytes under keys, some of which a type requires.

import { defineResource, type RuleContext } from '../../api/definition.js'
import { type FieldError, invalid, required, tooLong } from '../../api/field-error.js'
import { ageOf } from '../../api/human-duration.js'
import type { Identity } from '../../api/identity.js'
import { ageColumn, nameColumn, textColumn } from '../../api/table-columns.js'
import { checkUnchanged } from '../../api/validation/fields.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { sameValue } from '../../api/validation/same-value.js'
import { isSentEmpty } from '../../schema/sent-empty.js'
import { decodeText, encodeText } from './base64-text.js'
import { checkKeys, dataLimitBytes, isOverDataLimit, sealed } from './config-data.js'
import { readJsonText } from './json-text.js'
import { type Secret, secret as schema } from './v1.schema.js'

/** Texts that were sent for convenience become bytes among the data, and win over what stands there. */
function withTextsEncoded(secret: Secret): Secret {
  const { stringData, ...rest } = secret
  if (stringData === undefined) return secret
  const encoded = Object.fromEntries(Object.entries(stringData).map(([key, text]) => [key, encodeText(text)]))
  return { ...rest, data: { ...secret.data, ...encoded } }
}

function defaults(secret: Secret): Secret {
  const encoded = withTextsEncoded(secret)
  return (encoded.type ?? '') === '' ? { ...encoded, type: 'Opaque' } : encoded
}

function validate(secret: Secret, { identity }: RuleContext): readonly FieldError[] {
  const errors = [...checkKeys(secret.data, 'data')]
  if (isOverDataLimit(undefined, secret.data)) errors.push(tooLong('data', dataLimitBytes))
  const ofType = typeRules(identity).get(secret.type ?? '')
  return ofType === undefined ? errors : [...errors, ...ofType(secret)]
}

type TypeRule = (secret: Secret) => readonly FieldError[]

const rulesByIdentity = new WeakMap<Identity, ReadonlyMap<string, TypeRule>>()

/** What the types of the system require; other types are the users' own and require nothing. */
function typeRules(identity: Identity): ReadonlyMap<string, TypeRule> {
  const known = rulesByIdentity.get(identity)
  if (known !== undefined) return known
  const account = identity.label('service-account.name')
  const rules = new Map<string, TypeRule>([
    [
      identity.label('service-account-token'),
      ({ metadata }) => ((metadata?.annotations?.[account] ?? '') === '' ? [required(`metadata.annotations[${account}]`)] : []),
    ],
    [identity.label('dockercfg'), requireJsonObject('.dockercfg')],
    [identity.label('dockerconfigjson'), requireJsonObject('.dockerconfigjson')],
    [
      identity.label('basic-auth'),
      ({ data }) => (hasKey(data, 'username') || hasKey(data, 'password') ? [] : missing('username', 'password')),
    ],
    [identity.label('ssh-auth'), ({ data }) => ((data?.['ssh-privatekey'] ?? '') === '' ? missing('ssh-privatekey') : [])],
    [identity.label('tls'), ({ data }) => missing(...['tls.crt', 'tls.key'].filter((key) => !hasKey(data, key)))],
  ])
  rulesByIdentity.set(identity, rules)
  return rules
}

const hasKey = (data: Secret['data'], key: string): boolean => data !== undefined && Object.hasOwn(data, key)

const missing = (...keys: readonly string[]): readonly FieldError[] => keys.map((key) => required(`data[${key}]`))

function requireJsonObject(key: string): TypeRule {
  return ({ data }) => {
    if (!hasKey(data, key)) return missing(key)
    const problem = jsonObjectProblem(decodeText(data?.[key] ?? ''))
    return problem === undefined ? [] : [invalid(`data[${key}]`, '<secret contents redacted>', problem)]
  }
}

/** What keeps a text from being a JSON object. */
function jsonObjectProblem(text: string): string | undefined {
  const { value, problem } = readJsonText(text)
  return problem ?? (typeof value === 'object' && !Array.isArray(value) ? undefined : 'must be a JSON object')
}

function validateUpdate(next: Secret, old: Secret): readonly FieldError[] {
  const errors = [...checkUnchanged(next.type, old.type, 'type')]
  if (old.immutable !== true) return errors
  if (next.immutable !== true) errors.push(sealed('immutable'))
  if (isSentEmpty(next, 'data') || !sameValue(next.data, old.data)) errors.push(sealed('data'))
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
  checks: { update: ['metadataChange', 'ownChange', 'metadata', 'own'] },
  selectableFields: { type: ({ type }) => type ?? '' },
  table: {
    columns: [nameColumn, textColumn('Type', 'What the secret is for.'), textColumn('Data', 'How many keys there are.'), ageColumn],
    cells: ({ metadata, type, data }, { now }) => [
      metadata?.name ?? '',
      type ?? '',
      data === undefined ? 0 : Object.keys(data).length,
      ageOf(metadata?.creationTimestamp, now),
    ],
  },
})
