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

interface Rule {
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

export async function findGrants(session: Session, question: AccessQuestion, signal: AbortSignal): Promise<Grants> {
  const unread: string[] = []
  const read = async <T extends ApiObject>(
    name: string,
    namespace: string,
  ): Promise<{ readonly resource: ServedResource; readonly items: readonly T[] } | undefined> => {
    const resource = session.resources.find((each) => each.resource === name && each.group.startsWith('rbac.') && each.isPreferred)
    if (resource === undefined) return undefined
    try {
      const items: T[] = []
      for await (const page of session.client.collection<T>(resource, namespace).pages({ limit: 500, signal })) {
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
  const { namespace } = question
  const [clusterRoles, clusterBindings, roles, bindings] = await Promise.all([
    read<RoleObject>('clusterroles', ''),
    read<BindingObject>('clusterrolebindings', ''),
    namespace === '' ? undefined : read<RoleObject>('roles', namespace),
    namespace === '' ? undefined : read<BindingObject>('rolebindings', namespace),
  ])
  const granting = (from: typeof roles): ReadonlySet<string> =>
    new Set(
      (from?.items ?? [])
        .filter(({ rules }) => (rules ?? []).some((rule) => matchesRule(rule, question)))
        .map(({ metadata }) => metadata?.name ?? ''),
    )
  const [grantingCluster, grantingLocal] = [granting(clusterRoles), granting(roles)]
  const grants = [clusterBindings, bindings].flatMap((from) =>
    (from?.items ?? []).flatMap(({ metadata, roleRef, subjects }): readonly Grant[] => {
      const isCluster = roleRef?.kind === 'ClusterRole'
      const roleResource = (isCluster ? clusterRoles : roles)?.resource
      const roleName = roleRef?.name ?? ''
      if (roleResource === undefined || from === undefined || !(isCluster ? grantingCluster : grantingLocal).has(roleName)) return []
      return (subjects ?? []).map((subject) => ({
        subject: { kind: subject.kind ?? '', name: subject.name ?? '', namespace: subject.namespace ?? '' },
        binding: { resource: from.resource, namespace: metadata?.namespace ?? '', name: metadata?.name ?? '' },
        role: { resource: roleResource, namespace: isCluster ? '' : namespace, name: roleName },
      }))
    }),
  )
  return { grants, unread }
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
