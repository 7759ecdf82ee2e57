// Roles and bindings in a store in memory, and the index over them, for the tests of this room.

import { Catalog, type Resource } from '../../api/catalog.js'
import { identityOf } from '../../api/identity.js'
import type { ApiObject } from '../../api/object.js'
import type { User } from '../../api/user.js'
import { storeOfBoxes } from '../../objects/fixture.js'
import type { ObjectStore } from '../../objects/object-store.js'
import { definitions } from '../../resources/index.js'
import type { PolicyRule } from '../../resources/rbac-authorization/v1.schema.js'
import type { Authorizer } from '../authorize.js'
import { rbacAuthorizer } from './rbac-authorizer.js'
import { RbacIndex } from './rbac-index.js'

export const identity = identityOf('kubernetes')
export const catalog = new Catalog({ identity, definitions, isServed: () => true })

export interface Stage {
  readonly store: ObjectStore
  readonly index: RbacIndex
  readonly authorizer: Authorizer
  role(name: string, rules: readonly PolicyRule[], namespace?: string): Promise<void>
  bind(name: string, role: string, subjects: string, namespace?: string): Promise<void>
  remove(resource: string, name: string, namespace?: string): Promise<void>
}

export async function stageOf(): Promise<Stage> {
  const store = await storeOfBoxes()
  const index = new RbacIndex(store, catalog)
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

/** `User:ann Group:devs ServiceAccount:space/robot`. */
const subjectsOf = (text: string) =>
  text.split(' ').map((word) => {
    const [kind = '', named = ''] = word.split(':')
    const [namespace, name] = named.includes('/') ? named.split('/') : [undefined, named]
    return { kind, name, ...(namespace === undefined ? {} : { namespace }) }
  })

export const user = (name: string, ...groups: string[]): User => ({ name, uid: '', groups, extra: {} })
