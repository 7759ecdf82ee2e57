// Rules and selectors of webhooks and policies, compared with the operation and the resource of a request.

import type { CompiledLabelSelector } from '../../../api/selectors/label-selector.js'

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

export interface Criteria {
  /** The first matching rule decides; undefined: every request matches. */
  readonly rules: readonly OperationRule[] | undefined
  /** Policies only: exceptions from `rules`. */
  readonly excluded?: readonly OperationRule[]
  /** matchPolicy Equivalent: rules also match other versions and groups of the same objects. */
  readonly isEquivalent: boolean
  readonly namespaces: CompiledLabelSelector
  readonly objects: CompiledLabelSelector
}

export interface OperationRule {
  readonly operations?: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly apiVersions?: readonly string[]
  readonly resources?: readonly string[]
  readonly scope?: string
  /** Policies only: names of objects; empty or undefined: all. */
  readonly resourceNames?: readonly string[]
}

export interface RequestScope {
  readonly operation: Operation
  readonly resource: { readonly group: string; readonly version: string; readonly name: string; readonly namespaced: boolean }
  /** Empty for the object itself. */
  readonly subresource: string
}

export const matchesRule = (rule: OperationRule, { operation, resource, subresource }: RequestScope): boolean =>
  matchesScope(rule.scope, resource.namespaced) &&
  includes(rule.operations, operation) &&
  includes(rule.apiGroups, resource.group) &&
  includes(rule.apiVersions, resource.version) &&
  (rule.resources ?? []).some((pattern) => matchesResource(pattern, resource.name, subresource))

/** An object with generateName has no name yet and does not match resourceNames. */
export const matchesName = ({ resourceNames = [] }: OperationRule, name: string): boolean =>
  resourceNames.length === 0 || resourceNames.includes(name)

const includes = (list: readonly string[] | undefined, value: string): boolean =>
  list?.some((each) => each === '*' || each === value) ?? false

function matchesScope(scope: string | undefined, isNamespaced: boolean): boolean {
  if (scope === undefined || scope === '*') return true
  return scope === (isNamespaced ? 'Namespaced' : 'Cluster')
}

/** Pattern `pods`, `pods/status`, `pods/*` (includes pods themselves), `*`, or a star on either side of the slash. */
function matchesResource(pattern: string, resource: string, subresource: string): boolean {
  const slash = pattern.indexOf('/')
  const [resourcePattern, subresourcePattern] = slash < 0 ? [pattern, ''] : [pattern.slice(0, slash), pattern.slice(slash + 1)]
  return (resourcePattern === '*' || resourcePattern === resource) && (subresourcePattern === '*' || subresourcePattern === subresource)
}
