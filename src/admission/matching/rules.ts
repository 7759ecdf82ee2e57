// Which requests a rule of a hook or a policy is about: operations on groups, versions and resources, each list with its own wildcard.

import type { Resource } from '../../api/catalog.js'
import type { AdmissionRequest, Operation } from '../admission.js'

/** As configurations of webhooks and policies write it. */
export interface OperationRule {
  readonly operations?: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly apiVersions?: readonly string[]
  readonly resources?: readonly string[]
  readonly scope?: string
  /** Of policies: the objects with these names alone; empty or left out: all. */
  readonly resourceNames?: readonly string[]
}

/** What of a request rules look at. */
export interface RequestPlace {
  readonly operation: Operation
  readonly resource: Pick<Resource, 'group' | 'version' | 'name' | 'namespaced'>
  /** Empty for the object itself. */
  readonly subresource: string
}

/** Whether the rule is about it, whatever the names that it may name. */
export const matchesRule = (rule: OperationRule, { operation, resource, subresource }: RequestPlace): boolean =>
  matchesScope(rule.scope, resource.namespaced) &&
  includes(rule.operations, operation) &&
  includes(rule.apiGroups, resource.group) &&
  includes(rule.apiVersions, resource.version) &&
  (rule.resources ?? []).some((pattern) => matchesResource(pattern, resource.name, subresource))

/** An object whose name is yet to be generated has none that could be meant. */
export const matchesName = ({ resourceNames = [] }: OperationRule, { name }: Pick<AdmissionRequest, 'name'>): boolean =>
  resourceNames.length === 0 || resourceNames.includes(name)

const includes = (list: readonly string[] | undefined, word: string): boolean =>
  list?.some((each) => each === '*' || each === word) ?? false

function matchesScope(scope: string | undefined, isNamespaced: boolean): boolean {
  if (scope === undefined || scope === '*') return true
  return scope === (isNamespaced ? 'Namespaced' : 'Cluster')
}

/** `pods`, `pods/status`, `pods/*` with the pods themselves, `*`, and `*` behind or before the slash. */
function matchesResource(pattern: string, resource: string, subresource: string): boolean {
  const slash = pattern.indexOf('/')
  const [wanted, part] = slash < 0 ? [pattern, ''] : [pattern.slice(0, slash), pattern.slice(slash + 1)]
  return (wanted === '*' || wanted === resource) && (part === '*' || part === subresource)
}

const configurations = new Set([
  'MutatingWebhookConfiguration',
  'ValidatingWebhookConfiguration',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
])

/** Neither hooks nor policies are asked about hooks and policies: a bad one could not be mended otherwise. */
export const isExempt = ({ resource, identity }: Pick<AdmissionRequest, 'resource' | 'identity'>): boolean =>
  configurations.has(resource.kind) && resource.group === identity.group({ stem: 'admissionregistration' })
