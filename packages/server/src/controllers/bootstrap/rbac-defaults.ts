// Roles and bindings of a fresh server, and how they are kept whole: what is missing is added at every start, what somebody added
// stays, and an object whose annotation forbids it is left alone.

import type { FeatureGates } from '../../api/definition.js'
import type { Identity } from '../../api/identity.js'
import type { ApiObject, ObjectMeta } from '../../api/object.js'
import { sameValue } from '../../api/validation/same-value.js'
import type { AggregationRule, ClusterRole, PolicyRule, RoleRef, Subject } from '../../resources/rbac-authorization/v1.schema.js'
import { type BindingTemplate, clusterBindings, namespaceBindings, subjectsOf } from './bindings.js'
import { componentRoles } from './component-roles.js'
import { controllerRoles } from './controller-roles.js'
import { covers } from './covered-rules.js'
import { namespaceRoles } from './namespace-roles.js'
import { peopleRoles } from './people-roles.js'
import { type RoleTemplate, ruleOf } from './rules.js'
import type { Wanted } from './wanted.js'
import { spell } from './words.js'

interface Binding extends ApiObject {
  readonly subjects?: readonly Subject[]
  readonly roleRef?: RoleRef
}

const stem = 'rbac.authorization'
const ofController = 'system:controller:'

export function accessObjects(identity: Identity, gates: FeatureGates): readonly Wanted[] {
  const isOn = ({ gate }: { readonly gate?: string }): boolean => gate === undefined || gates(gate)
  const controllers = controllerRoles().filter(isOn)
  const roles = [
    ...peopleRoles(),
    ...componentRoles(),
    ...controllers.map((role) => ({ ...role, name: `${ofController}${role.name}` })),
    ...namespaceRoles(),
  ].map((role) => (role.rules === undefined ? role : { ...role, rules: role.rules.filter(isOn) }))
  const bindings: readonly BindingTemplate[] = [
    ...clusterBindings,
    ...controllers.map(({ name }) => ({ name: `${ofController}${name}`, subjects: `ServiceAccount:${name}` })),
    ...namespaceBindings,
  ]
  return [
    ...roles.map((template) => place(identity, template, template.namespace === undefined ? 'clusterroles' : 'roles', roleOf)),
    ...bindings.map((template) =>
      place(identity, template, template.namespace === undefined ? 'clusterrolebindings' : 'rolebindings', bindingOf),
    ),
  ]
}

/** What every agent of a node may do: the rules of the role that used to be bound to all of them. */
export function nodeRules(identity: Identity, gates: FeatureGates): readonly PolicyRule[] {
  const { rules = [] } = componentRoles().find(({ name }) => name === 'system:node') ?? {}
  return rules.filter(({ gate }) => gate === undefined || gates(gate)).map((rule) => ruleOf(identity, rule))
}

type Named = { readonly name: string; readonly namespace?: string }

function place<T extends Named>(identity: Identity, template: T, resource: string, make: (identity: Identity, template: T) => ApiObject) {
  const namespace = template.namespace === undefined ? {} : { namespace: spell(identity, template.namespace) }
  const reconcile = resource.endsWith('bindings') ? reconcileBinding : reconcileRole
  return {
    group: { stem },
    version: 'v1',
    resource,
    ...namespace,
    shape: shapeOf(template),
    object: make(identity, template),
    reconcile: (stored: ApiObject, wanted: ApiObject) => (isProtected(identity, stored) ? stored : reconcile(stored, wanted)),
  } satisfies Wanted
}

const shapeOf = ({ rules, partOf, collects, subjects }: Partial<RoleTemplate & BindingTemplate>): string =>
  [rules === undefined, partOf, collects, subjects === ''].join(' ')

/** In the domain of labels, unlike the labels of aggregation, which are in that of groups. */
const annotationOf = (identity: Identity): string => identity.label('autoupdate', stem)

const isProtected = (identity: Identity, { metadata }: ApiObject): boolean => metadata?.annotations?.[annotationOf(identity)] === 'false'

const aggregationLabel = (identity: Identity, to: string): string => `${identity.group({ stem })}/aggregate-to-${to}`

const metadataOf = (identity: Identity, { name, namespace }: Named, labels: { readonly [name: string]: string } = {}): ObjectMeta => ({
  name: spell(identity, name),
  ...(namespace === undefined ? {} : { namespace: spell(identity, namespace) }),
  labels: { [identity.label('bootstrapping')]: 'rbac-defaults', ...labels },
  annotations: { [annotationOf(identity)]: 'true' },
})

function roleOf(identity: Identity, template: RoleTemplate): ClusterRole {
  const { rules, partOf, collects } = template
  return {
    metadata: metadataOf(identity, template, partOf === undefined ? {} : { [aggregationLabel(identity, partOf)]: 'true' }),
    ...(rules === undefined ? {} : { rules: rules.map((rule) => ruleOf(identity, rule)) }),
    ...(collects === undefined
      ? {}
      : { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [aggregationLabel(identity, collects)]: 'true' } }] } }),
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
      name: spell(identity, template.role ?? template.name),
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
  const whole = withMissingMetadata(stored, wanted)
  if (missing.length === 0 && missingSelectors.length === 0) return whole
  return {
    ...whole,
    ...(missing.length === 0 ? {} : { rules: [...(stored.rules ?? []), ...missing] }),
    ...(missingSelectors.length === 0 ? {} : { aggregationRule: { clusterRoleSelectors: [...selectors, ...missingSelectors] } }),
  }
}

/** The role of a binding cannot be changed: one with another role is somebody's own, whatever its name. */
export function reconcileBinding(stored: Binding, wanted: Binding): Binding {
  if (!sameValue(stored.roleRef, wanted.roleRef)) return stored
  const missing = (wanted.subjects ?? []).filter((subject) => !(stored.subjects ?? []).some((other) => sameValue(other, subject)))
  const whole = withMissingMetadata(stored, wanted)
  return missing.length === 0 ? whole : { ...whole, subjects: [...(stored.subjects ?? []), ...missing] }
}

/** Labels and annotations that are missing; a value that somebody changed stays as it is. */
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
