// Reads roles and bindings as far as the user may, and finds which of them grant a request.

import { type ApiObject, type DynamicObject, isClientError, type ServedResource } from '@cluster-apiserver/client/browser.js'
import type { Session } from '../session/session.js'

export interface AccessQuestion {
  readonly verb: string
  readonly group: string
  /** With subresource: `pods/log`. */
  readonly resource: string
  readonly namespace: string
  readonly name: string
}

export interface Subject {
  readonly kind: string
  readonly name: string
  readonly namespace: string
}

export interface Grant {
  readonly subject: Subject
  readonly binding: BoundObject
  readonly role: BoundObject
}

export interface BoundObject {
  readonly resource: ServedResource
  readonly namespace: string
  readonly name: string
}

export interface Rule {
  readonly verbs?: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
}

interface RoleObject extends ApiObject {
  readonly rules?: readonly Rule[] | null
}

interface BindingObject extends ApiObject {
  readonly roleRef?: { readonly kind?: string; readonly name?: string }
  readonly subjects?: readonly { readonly kind?: string; readonly name?: string; readonly namespace?: string }[] | null
}

export interface Grants {
  readonly grants: readonly Grant[]
  /** Kinds that the user may not list. */
  readonly unread: readonly string[]
}

const maxObjects = 10_000

interface Listed<T> {
  readonly resource: ServedResource
  readonly items: readonly T[]
}

interface RoleLists {
  readonly clusterRoles: Listed<RoleObject> | undefined
  readonly roles: Listed<RoleObject> | undefined
  readonly bindings: readonly Listed<BindingObject>[]
  readonly unread: readonly string[]
}

/** Reads cluster-scoped kinds only if the namespace is empty. */
async function readRoles(session: Session, namespace: string, signal: AbortSignal): Promise<RoleLists> {
  const unread: string[] = []
  const read = async <T extends ApiObject>(name: string, within: string): Promise<Listed<T> | undefined> => {
    const resource = session.resources.find((each) => each.resource === name && each.group.startsWith('rbac.') && each.isPreferred)
    if (resource === undefined) return undefined
    try {
      const items: T[] = []
      for await (const page of session.client.collection<T>(resource, within).pages({ limit: 500, signal })) {
        items.push(...page.items)
        if (items.length >= maxObjects) break
      }
      return { resource, items }
    } catch (thrown) {
      if (!isClientError(thrown) || signal.aborted) throw thrown
      unread.push(name)
      return undefined
    }
  }
  const [clusterRoles, clusterBindings, roles, bindings] = await Promise.all([
    read<RoleObject>('clusterroles', ''),
    read<BindingObject>('clusterrolebindings', ''),
    namespace === '' ? undefined : read<RoleObject>('roles', namespace),
    namespace === '' ? undefined : read<BindingObject>('rolebindings', namespace),
  ])
  return { clusterRoles, roles, bindings: [clusterBindings, bindings].filter((each) => each !== undefined), unread }
}

const isClusterRole = ({ roleRef }: BindingObject): boolean => roleRef?.kind === 'ClusterRole'

const subjectsOf = ({ subjects }: BindingObject): readonly Subject[] =>
  (subjects ?? []).map(({ kind = '', name = '', namespace = '' }) => ({ kind, name, namespace }))

export async function findGrants(session: Session, question: AccessQuestion, signal: AbortSignal): Promise<Grants> {
  const { namespace } = question
  const { clusterRoles, roles, bindings, unread } = await readRoles(session, namespace, signal)
  const granting = (from: typeof roles): ReadonlySet<string> =>
    new Set(
      (from?.items ?? [])
        .filter(({ rules }) => (rules ?? []).some((rule) => matchesRule(rule, question)))
        .map(({ metadata }) => metadata?.name ?? ''),
    )
  const [grantingCluster, grantingLocal] = [granting(clusterRoles), granting(roles)]
  const grants = bindings.flatMap(({ resource, items }) =>
    items.flatMap((each): readonly Grant[] => {
      const isCluster = isClusterRole(each)
      const roleResource = (isCluster ? clusterRoles : roles)?.resource
      const roleName = each.roleRef?.name ?? ''
      if (roleResource === undefined || !(isCluster ? grantingCluster : grantingLocal).has(roleName)) return []
      return subjectsOf(each).map((subject) => ({
        subject,
        binding: { resource, namespace: each.metadata?.namespace ?? '', name: each.metadata?.name ?? '' },
        role: { resource: roleResource, namespace: isCluster ? '' : namespace, name: roleName },
      }))
    }),
  )
  return { grants, unread }
}

export interface AskedUser {
  readonly user: string
  readonly groups: readonly string[]
}

export const askedName = (asked: AskedUser | undefined): string => (asked === undefined ? 'you' : asked.user || asked.groups.join(', '))

/** The rules that bindings give a user in a namespace. */
export async function findRules(
  session: Session,
  asked: AskedUser,
  namespace: string,
  signal: AbortSignal,
): Promise<{ readonly rules: readonly Rule[]; readonly unread: readonly string[] }> {
  const { clusterRoles, roles, bindings, unread } = await readRoles(session, namespace, signal)
  const rulesByName = (from: typeof roles): ReadonlyMap<string, readonly Rule[]> =>
    new Map((from?.items ?? []).map(({ metadata, rules }) => [metadata?.name ?? '', rules ?? []]))
  const [clusterRules, localRules] = [rulesByName(clusterRoles), rulesByName(roles)]
  const rules = bindings
    .flatMap(({ items }) => items)
    .filter((each) => subjectsOf(each).some((subject) => isSubjectOf(asked, subject)))
    .flatMap((each) => (isClusterRole(each) ? clusterRules : localRules).get(each.roleRef?.name ?? '') ?? [])
  return { rules, unread }
}

export function matchesRule({ verbs = [], apiGroups = [], resources = [], resourceNames = [] }: Rule, question: AccessQuestion): boolean {
  const { verb, group, resource, name } = question
  const subresource = resource.includes('/') ? `*${resource.slice(resource.indexOf('/'))}` : undefined
  return (
    includesAny(verbs, ['*', verb]) &&
    includesAny(apiGroups, ['*', group]) &&
    includesAny(resources, ['*', resource, ...(subresource === undefined ? [] : [subresource])]) &&
    (resourceNames.length === 0 || (name !== '' && resourceNames.includes(name)))
  )
}

const includesAny = (list: readonly string[], candidates: readonly string[]): boolean => candidates.some((each) => list.includes(each))

/** Names of a subject as they are authenticated: `system:serviceaccount:shop:robot`. */
export const subjectName = ({ kind, namespace, name }: Subject): string =>
  kind === 'ServiceAccount' ? `system:serviceaccount:${namespace}:${name}` : name

export const isSubjectOf = ({ user, groups }: AskedUser, subject: Subject): boolean =>
  subject.kind === 'Group' ? groups.includes(subject.name) : user !== '' && subjectName(subject) === user

/** The groups that the server gives a user whose credential names none. */
export function groupsOf(user: string): readonly string[] {
  const namespace = /^system:serviceaccount:([^:]+):[^:]+$/.exec(user)?.[1]
  return [...(namespace === undefined ? [] : ['system:serviceaccounts', `system:serviceaccounts:${namespace}`]), 'system:authenticated']
}

export interface Refusal {
  readonly user: string
  readonly question: AccessQuestion
}

const refusalPattern =
  /User "([^"]*)" cannot (\w+) resource "([^"]*)" in API group "([^"]*)"(?: in the namespace "([^"]*)"| at the cluster scope)?/

/** The request of a message of the server, as RBAC refuses it. */
export function readRefusal(message: string): Refusal | undefined {
  const found = refusalPattern.exec(message)
  if (found === null) return undefined
  const [, user = '', verb = '', resource = '', group = '', namespace = ''] = found
  const name = /^\S+ "([^"]*)" is forbidden/.exec(message)?.[1] ?? ''
  return { user, question: { verb, resource, group, namespace, name } }
}

/** The status of a review, whose kind the server has. */
export async function review(
  session: Session,
  name: string,
  body: { readonly namespace?: string; readonly spec: object },
): Promise<{ readonly [field: string]: unknown }> {
  const resource = session.resources.find((each) => each.resource === name && each.isPreferred)
  if (resource === undefined) throw new Error(`the server does not serve ${name}`)
  const collection = session.client.collection<DynamicObject>(resource, resource.namespaced ? body.namespace : undefined)
  const created = await collection.create({ spec: body.spec })
  return (created['status'] ?? {}) as { readonly [field: string]: unknown }
}
