// Fixture: an in-memory store with roles and bindings, the RBAC index and its authorizer.

import { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import type { User } from '@cluster-apiserver/api/api/user.js'
import { TurnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import { definitions } from '@cluster-apiserver/api/resources/index.js'
import type { PolicyRule } from '@cluster-apiserver/api/resources/rbac-authorization/v1.schema.js'
import { storeOfBoxes } from '../../objects/box-store.fixture.js'
import type { ObjectStore } from '../../objects/object-store.js'
import type { Authorizer } from '../authorize.js'
import { rbacAuthorizer } from './rbac-authorizer.js'
import { RbacIndex } from './rbac-index.js'

export const identity = identityOf('kubernetes')
export const catalog = new Catalog({ identity, definitions, isServed: () => true })

export interface RbacFixture {
  readonly store: ObjectStore
  readonly index: RbacIndex
  readonly authorizer: Authorizer
  role(name: string, rules: readonly PolicyRule[], namespace?: string): Promise<void>
  bind(name: string, role: string, subjects: string, namespace?: string): Promise<void>
  remove(resource: string, name: string, namespace?: string): Promise<void>
}

/** Makes the code under test yield to the event loop at every step. */
export const alwaysSpentBudget = (): TurnBudget => {
  let now = 0
  return new TurnBudget(() => (now += 10))
}

export async function rbacFixture(budget?: TurnBudget): Promise<RbacFixture> {
  const store = await storeOfBoxes()
  const index = new RbacIndex(store, catalog, undefined, budget)
  const find = (plural: string): Resource => catalog.find('rbac.authorization.k8s.io', 'v1', plural) as Resource
  const put = async (resource: Resource, object: ApiObject): Promise<void> => {
    const { name = '', namespace = '' } = object.metadata ?? {}
    const address = { resource, namespace, name }
    await store.put(address, store.encode(resource, object), { expect: store.read(address)?.revision ?? 0 })
  }
  return {
    store,
    index,
    authorizer: rbacAuthorizer(index, identity),
    role: (name, rules, namespace) =>
      put(find(namespace === undefined ? 'clusterroles' : 'roles'), { metadata: metadataOf(name, namespace), rules } as ApiObject),
    bind: (name, role, subjects, namespace) => {
      const [kind, roleName] = role.split(' ')
      const object = { metadata: metadataOf(name, namespace), roleRef: { kind, name: roleName }, subjects: subjectsOf(subjects) }
      return put(find(namespace === undefined ? 'clusterrolebindings' : 'rolebindings'), object as ApiObject)
    },
    remove: async (plural, name, namespace = '') => {
      const stored = store.read({ resource: find(plural), namespace, name })
      if (stored !== undefined) await store.remove(stored)
    },
  }
}

const metadataOf = (name: string, namespace: string | undefined) => ({
  name,
  uid: name,
  creationTimestamp: '2020-01-01T00:00:00Z',
  ...(namespace === undefined ? {} : { namespace }),
})

/** Parses subjects such as `User:ann Group:devs ServiceAccount:space/robot`. */
const subjectsOf = (text: string) =>
  text.split(' ').map((word) => {
    const [kind = '', subjectName = ''] = word.split(':')
    const [namespace, name] = subjectName.includes('/') ? subjectName.split('/') : [undefined, subjectName]
    return { kind, name, ...(namespace === undefined ? {} : { namespace }) }
  })

export const user = (name: string, ...groups: string[]): User => ({ name, uid: '', groups, extra: {} })
