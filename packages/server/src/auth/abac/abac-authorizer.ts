// The policies of ABAC, as their file has them: one JSON object a line, in either of two versions.

import type { Identity } from '../../api/identity.js'
import { authenticatedGroup } from '../../api/user.js'

export interface Policy {
  /** Empty: it is not about one user. */
  readonly user: string
  readonly group: string
  readonly readonly: boolean
  readonly apiGroup: string
  readonly resource: string
  readonly namespace: string
  readonly nonResourcePath: string
}

type Fields = { readonly [name: string]: unknown }

/** Throws an error that says in which line it is. Empty lines and those that begin with `#` are left out. */
export function parsePolicies(text: string, identity: Identity): readonly Policy[] {
  const policies: Policy[] = []
  for (const [index, line] of text.split('\n').entries()) {
    const trimmed = line.trim()
    if (trimmed === '' || trimmed.startsWith('#')) continue
    try {
      policies.push(parsePolicy(trimmed, identity))
    } catch (error) {
      throw new Error(`line ${index + 1}: ${(error as Error).message}`)
    }
  }
  return policies
}

function parsePolicy(line: string, identity: Identity): Policy {
  const fields = objectOf(JSON.parse(line), 'a policy')
  const { apiVersion, kind } = fields
  if (apiVersion === undefined && kind === undefined) return oldPolicy(fields)
  const expected = identity.label('v1beta1', 'abac.authorization')
  if (apiVersion !== expected) throw new Error(`its apiVersion is ${JSON.stringify(apiVersion)}; ${expected} is known`)
  if (kind !== 'Policy') throw new Error(`its kind is ${JSON.stringify(kind)}; "Policy" is known`)
  const spec = readFields(fields['spec'] === undefined ? {} : objectOf(fields['spec'], 'its spec'), specFields)
  return spec.user === '*' || spec.group === '*' ? { ...spec, user: '', group: authenticatedGroup } : spec
}

/** Of the first version, where what is left out stands for everything. */
function oldPolicy(fields: Fields): Policy {
  const read = readFields(fields, oldFields)
  const isForAll = read.user === '*' || read.group === '*' || (read.user === '' && read.group === '')
  return {
    user: isForAll ? '' : read.user,
    group: isForAll ? authenticatedGroup : read.group,
    readonly: read.readonly,
    apiGroup: '*',
    resource: read.resource || '*',
    namespace: read.namespace || '*',
    nonResourcePath: read.namespace === '' && read.resource === '' ? '*' : '',
  }
}

const oldFields: readonly string[] = ['user', 'group', 'readonly', 'resource', 'namespace']
const specFields: readonly string[] = [...oldFields, 'apiGroup', 'nonResourcePath']

/** A misspelt field would make a policy allow more than was meant. */
function readFields(fields: Fields, known: readonly string[]): Policy {
  const unknown = Object.keys(fields).find((name) => !known.includes(name))
  if (unknown !== undefined) throw new Error(`its field ${JSON.stringify(unknown)} is unknown; ${known.join(', ')} are known`)
  const isReadonly = fields['readonly'] ?? false
  if (typeof isReadonly !== 'boolean') throw new Error('its field "readonly" is neither true nor false')
  return {
    user: textOf(fields, 'user'),
    group: textOf(fields, 'group'),
    readonly: isReadonly,
    apiGroup: textOf(fields, 'apiGroup'),
    resource: textOf(fields, 'resource'),
    namespace: textOf(fields, 'namespace'),
    nonResourcePath: textOf(fields, 'nonResourcePath'),
  }
}

function textOf(fields: Fields, name: string): string {
  const value = fields[name] ?? ''
  if (typeof value !== 'string') throw new Error(`its field "${name}" is no text`)
  return value
}

function objectOf(value: unknown, what: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(`${what} must be an object`)
  return value as Fields
}
