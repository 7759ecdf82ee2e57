// Default RBAC roles and bindings. A start adds missing rules and subjects, keeps additions, and skips objects with autoupdate=false.

import type { FeatureGates } from '@cluster-apiserver/api/api/definition/resource-definition.js'
import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import type { ApiObject, ObjectMeta } from '@cluster-apiserver/api/api/object.js'
import { sameValue } from '@cluster-apiserver/api/api/validation/same-value.js'
import type {
  AggregationRule,
  ClusterRole,
  PolicyRule,
  RoleRef,
  Subject,
} from '@cluster-apiserver/api/resources/rbac-authorization/v1.schema.js'
import { matchesResource } from '../../auth/rbac/missing-permissions.js'
import { matchesPath } from '../../auth/rbac/role-rules.js'
import { componentRoles } from './data/component-roles.js'
import { controllerRoles } from './data/controller-roles.js'
import { namespaceRoles } from './data/namespace-roles.js'
import { type BindingTemplate, clusterRoleBindings, roleBindings } from './data/role-bindings.js'
import { expandName, type RoleTemplate, ruleOf } from './data/role-template.js'
import { userFacingRoles } from './data/user-facing-roles.js'
import type { WantedObject } from './ensure-objects.js'

interface Binding extends ApiObject {
  readonly subjects?: readonly Subject[]
  readonly roleRef?: RoleRef
}

const stem = 'rbac.authorization'
const controllerPrefix = 'system:controller:'

export function rbacDefaults(identity: Identity, gates: FeatureGates): readonly WantedObject[] {
  const isOn = ({ gate }: { readonly gate?: string }): boolean => gate === undefined || gates(gate)
  const controllers = controllerRoles.filter(isOn)
  const roles = [
    ...userFacingRoles,
    ...componentRoles,
    ...controllers.map((role) => ({ ...role, name: `${controllerPrefix}${role.name}` })),
    ...namespaceRoles,
  ].map((role) => (role.rules === undefined ? role : { ...role, rules: role.rules.filter(isOn) }))
  const bindings: readonly BindingTemplate[] = [
    ...clusterRoleBindings,
    ...controllers.map(({ name }) => ({ name: `${controllerPrefix}${name}`, subjects: `ServiceAccount:${name}` })),
    ...roleBindings,
  ]
  return [
    ...roles.map((template) => wantedObject(identity, template, template.namespace === undefined ? 'clusterroles' : 'roles', roleOf)),
    ...bindings.map((template) =>
      wantedObject(identity, template, template.namespace === undefined ? 'clusterrolebindings' : 'rolebindings', bindingOf),
    ),
  ]
}

export function nodeRules(identity: Identity, gates: FeatureGates): readonly PolicyRule[] {
  const { rules = [] } = componentRoles.find(({ name }) => name === 'system:node') ?? {}
  return rules.filter(({ gate }) => gate === undefined || gates(gate)).map((rule) => ruleOf(identity, rule))
}

type Named = { readonly name: string; readonly namespace?: string }

function wantedObject<T extends Named>(
  identity: Identity,
  template: T,
  resource: string,
  make: (identity: Identity, template: T) => ApiObject,
) {
  const namespace = template.namespace === undefined ? {} : { namespace: expandName(identity, template.namespace) }
  const reconcile = resource.endsWith('bindings') ? reconcileBinding : reconcileRole
  return {
    group: { stem },
    version: 'v1',
    resource,
    ...namespace,
    shape: shapeOf(template),
    object: make(identity, template),
    reconcile: (stored: ApiObject, wanted: ApiObject) => (isAutoupdateOff(identity, stored) ? stored : reconcile(stored, wanted)),
  } satisfies WantedObject
}

const shapeOf = ({ rules, aggregateTo, aggregatesFrom, subjects }: Partial<RoleTemplate & BindingTemplate>): string =>
  [rules === undefined, aggregateTo, aggregatesFrom, subjects === ''].join(' ')

/** This annotation has the domain of labels; aggregation labels have the domain of API groups. */
const annotationOf = (identity: Identity): string => identity.label('autoupdate', stem)

const isAutoupdateOff = (identity: Identity, { metadata }: ApiObject): boolean =>
  metadata?.annotations?.[annotationOf(identity)] === 'false'

const aggregationLabel = (identity: Identity, to: string): string => `${identity.group({ stem })}/aggregate-to-${to}`

const metadataOf = (identity: Identity, { name, namespace }: Named, labels: { readonly [name: string]: string } = {}): ObjectMeta => ({
  name: expandName(identity, name),
  ...(namespace === undefined ? {} : { namespace: expandName(identity, namespace) }),
  labels: { [identity.label('bootstrapping')]: 'rbac-defaults', ...labels },
  annotations: { [annotationOf(identity)]: 'true' },
})

function roleOf(identity: Identity, template: RoleTemplate): ClusterRole {
  const { rules, aggregateTo, aggregatesFrom } = template
  return {
    metadata: metadataOf(identity, template, aggregateTo === undefined ? {} : { [aggregationLabel(identity, aggregateTo)]: 'true' }),
    ...(rules === undefined ? {} : { rules: rules.map((rule) => ruleOf(identity, rule)) }),
    ...(aggregatesFrom === undefined
      ? {}
      : { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [aggregationLabel(identity, aggregatesFrom)]: 'true' } }] } }),
  }
}

function bindingOf(identity: Identity, template: BindingTemplate): Binding {
  const subjects = subjectsOf(identity, template.subjects)
  return {
    metadata: metadataOf(identity, template),
    ...(subjects.length === 0 ? {} : { subjects }),
    roleRef: {
      apiGroup: identity.group({ stem }),
      kind: template.namespace === undefined ? 'ClusterRole' : 'Role',
      name: expandName(identity, template.role ?? template.name),
    },
  }
}

interface Role extends ApiObject {
  readonly rules?: readonly PolicyRule[]
  readonly aggregationRule?: AggregationRule
}

export function reconcileRole(stored: Role, wanted: Role): Role {
  const missing = (wanted.rules ?? []).filter((rule) => !covers(stored.rules ?? [], rule))
  const selectors = stored.aggregationRule?.clusterRoleSelectors ?? []
  const missingSelectors = (wanted.aggregationRule?.clusterRoleSelectors ?? []).filter(
    (selector) => !selectors.some((other) => sameValue(other, selector)),
  )
  const updated = withMissingMetadata(stored, wanted)
  if (missing.length === 0 && missingSelectors.length === 0) return updated
  return {
    ...updated,
    ...(missing.length === 0 ? {} : { rules: [...(stored.rules ?? []), ...missing] }),
    ...(missingSelectors.length === 0 ? {} : { aggregationRule: { clusterRoleSelectors: [...selectors, ...missingSelectors] } }),
  }
}

/** A binding with another roleRef, which is immutable, belongs to the user. */
export function reconcileBinding(stored: Binding, wanted: Binding): Binding {
  if (!sameValue(stored.roleRef, wanted.roleRef)) return stored
  const missing = (wanted.subjects ?? []).filter((subject) => !(stored.subjects ?? []).some((other) => sameValue(other, subject)))
  const updated = withMissingMetadata(stored, wanted)
  return missing.length === 0 ? updated : { ...updated, subjects: [...(stored.subjects ?? []), ...missing] }
}

function withMissingMetadata<T extends ApiObject>(stored: T, wanted: T): T {
  const [labels, annotations] = [stored.metadata?.labels ?? {}, stored.metadata?.annotations ?? {}]
  const has = (map: object, names: object | undefined): boolean => Object.keys(names ?? {}).every((name) => name in map)
  if (has(labels, wanted.metadata?.labels) && has(annotations, wanted.metadata?.annotations)) return stored
  return {
    ...stored,
    metadata: {
      ...stored.metadata,
      labels: { ...wanted.metadata?.labels, ...labels },
      annotations: { ...wanted.metadata?.annotations, ...annotations },
    },
  }
}

export const covers = (rules: readonly PolicyRule[], rule: PolicyRule): boolean =>
  rules.some((existing) => coversRule(existing, rule)) ||
  singleRules(rule).every((single) => rules.some((existing) => coversRule(existing, single)))

function singleRules({ verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }: PolicyRule): PolicyRule[] {
  const names = resourceNames.length === 0 ? [{}] : resourceNames.map((name) => ({ resourceNames: [name] }))
  return verbs.flatMap((verb) => [
    ...apiGroups.flatMap((group) =>
      resources.flatMap((resource) => names.map((name) => ({ verbs: [verb], apiGroups: [group], resources: [resource], ...name }))),
    ),
    ...nonResourceURLs.map((path) => ({ verbs: [verb], nonResourceURLs: [path] })),
  ])
}

function coversRule(existing: PolicyRule, rule: PolicyRule): boolean {
  const names = existing.resourceNames ?? []
  return (
    hasAll(existing.verbs, rule.verbs) &&
    hasAll(existing.apiGroups, rule.apiGroups) &&
    (rule.resources ?? []).every((resource) => matchesResource(existing.resources ?? [], resource)) &&
    (names.length === 0 || ((rule.resourceNames ?? []).length > 0 && (rule.resourceNames ?? []).every((name) => names.includes(name)))) &&
    (rule.nonResourceURLs ?? []).every((path) => (existing.nonResourceURLs ?? []).some((pattern) => matchesPath(pattern, path)))
  )
}

const hasAll = (existing: readonly string[] = [], wanted: readonly string[] = []): boolean =>
  existing.includes('*') || wanted.every((item) => existing.includes(item))

function subjectsOf(identity: Identity, text: string): readonly Subject[] {
  if (text === '') return []
  return text.split(' ').map((item) => {
    const end = item.indexOf(':')
    const [kind, name] = [item.slice(0, end), expandName(identity, item.slice(end + 1))]
    if (kind === 'ServiceAccount') return { kind, name, namespace: identity.prefixed('system') }
    return { kind, apiGroup: identity.group({ stem: 'rbac.authorization' }), name }
  })
}
