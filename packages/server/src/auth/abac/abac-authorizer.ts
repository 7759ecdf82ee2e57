// ABAC authorizer: policies of `--authorization-policy-file`, one JSON object per line, name a user or group and a resource or path.

import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import { authenticatedGroup, type User } from '@cluster-apiserver/api/api/user.js'
import { type AccessAttributes, type Authorizer, allow, type Decision, type NonResourceRule, type ResourceRule } from '../authorize.js'
import { matchesPath } from '../rbac/role-rules.js'

const noPolicy: Decision = { verdict: 'no-opinion', reason: 'No policy matched.' }

const readingVerbs: readonly string[] = ['get', 'list', 'watch']

export const abacAuthorizer = (policies: readonly Policy[]): Authorizer => ({
  name: 'ABAC',
  authorize: ({ user, info }) => (policies.some((policy) => matches(policy, user, info)) ? allow : noPolicy),
  rulesFor: async (user, namespace) => {
    const resourceRules: ResourceRule[] = []
    const nonResourceRules: NonResourceRule[] = []
    for (const policy of policies) {
      if (!appliesToUser(policy, user) || !matchesPattern(policy.namespace, namespace)) continue
      const verbs = policy.readonly ? readingVerbs : ['*']
      if (policy.resource !== '') resourceRules.push({ verbs, apiGroups: [policy.apiGroup], resources: [policy.resource] })
      if (policy.nonResourcePath !== '') nonResourceRules.push({ verbs, nonResourceURLs: [policy.nonResourcePath] })
    }
    return { resourceRules, nonResourceRules }
  },
})

function matches(policy: Policy, user: User, info: AccessAttributes): boolean {
  if (policy.readonly && !readingVerbs.includes(info.verb)) return false
  if (!appliesToUser(policy, user)) return false
  if (!info.isResource) return policy.nonResourcePath !== '' && matchesPath(policy.nonResourcePath, info.path)
  return (
    matchesPattern(policy.namespace, info.namespace) &&
    matchesPattern(policy.resource, info.resource) &&
    matchesPattern(policy.apiGroup, info.group)
  )
}

/** A policy with user and group applies to that user as a member of that group; a policy without both applies to no user. */
function appliesToUser({ user, group }: Policy, { name, groups }: User): boolean {
  if (user === '' && group === '') return false
  return (user === '' || user === name) && (group === '' || groups.includes(group))
}

const matchesPattern = (pattern: string, value: string): boolean => pattern === '*' || pattern === value

export interface Policy {
  readonly user: string
  readonly group: string
  readonly readonly: boolean
  readonly apiGroup: string
  readonly resource: string
  readonly namespace: string
  readonly nonResourcePath: string
}

type Fields = { readonly [name: string]: unknown }

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
  if (apiVersion === undefined && kind === undefined) return parseVersion0Policy(fields)
  const expected = identity.label('v1beta1', 'abac.authorization')
  if (apiVersion !== expected) throw new Error(`its apiVersion is ${JSON.stringify(apiVersion)}; ${expected} is known`)
  if (kind !== 'Policy') throw new Error(`its kind is ${JSON.stringify(kind)}; "Policy" is known`)
  const spec = readFields(fields['spec'] === undefined ? {} : objectOf(fields['spec'], 'its spec'), specFields)
  return spec.user === '*' || spec.group === '*' ? { ...spec, user: '', group: authenticatedGroup } : spec
}

/** Policies of version 0 have no apiVersion and kind; an omitted field matches everything. */
function parseVersion0Policy(fields: Fields): Policy {
  const policy = readFields(fields, version0Fields)
  const isForAll = policy.user === '*' || policy.group === '*' || (policy.user === '' && policy.group === '')
  return {
    user: isForAll ? '' : policy.user,
    group: isForAll ? authenticatedGroup : policy.group,
    readonly: policy.readonly,
    apiGroup: '*',
    resource: policy.resource || '*',
    namespace: policy.namespace || '*',
    nonResourcePath: policy.namespace === '' && policy.resource === '' ? '*' : '',
  }
}

const version0Fields: readonly string[] = ['user', 'group', 'readonly', 'resource', 'namespace']
const specFields: readonly string[] = [...version0Fields, 'apiGroup', 'nonResourcePath']

/** Unknown fields are errors: a misspelt field could make a policy allow more than intended. */
function readFields(fields: Fields, known: readonly string[]): Policy {
  const unknown = Object.keys(fields).find((name) => !known.includes(name))
  if (unknown !== undefined) throw new Error(`its field ${JSON.stringify(unknown)} is unknown; ${known.join(', ')} are known`)
  const isReadonly = fields['readonly'] ?? false
  if (typeof isReadonly !== 'boolean') throw new Error('its field "readonly" must be a boolean')
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
  if (typeof value !== 'string') throw new Error(`its field "${name}" must be a string`)
  return value
}

function objectOf(value: unknown, fieldName: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(`${fieldName} must be an object`)
  return value as Fields
}
