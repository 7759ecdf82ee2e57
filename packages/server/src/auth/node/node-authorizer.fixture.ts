// Fixture: a store with the Node authorizer.

import { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { parseRequest } from '@cluster-apiserver/api/api/request-info.js'
import type { User } from '@cluster-apiserver/api/api/user.js'
import { TurnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import { definitions } from '@cluster-apiserver/api/resources/index.js'
import { storeOfBoxes } from '../../objects/box-store.fixture.js'
import type { ObjectStore } from '../../objects/object-store.js'
import type { Decision } from '../authorize.js'
import { nodeAuthorizer } from './node-authorizer.js'
import { NodePods, type NodePodsOptions } from './node-pods.js'

const identity = identityOf('kubernetes')
const catalog = new Catalog({ identity, definitions, isServed: () => true })

export const kubelet = (node: string, ...groups: string[]): User => ({
  name: `system:node:${node}`,
  uid: '',
  groups: ['system:nodes', ...groups],
  extra: {},
})

export const put = async (store: ObjectStore, plural: string, object: object, group = ''): Promise<void> => {
  const resource = catalog.find(group, 'v1', plural) as Resource
  const { metadata } = object as ApiObject
  const complete = {
    ...object,
    metadata: { uid: `uid-${metadata?.name}`, creationTimestamp: '2020-01-01T00:00:00Z', ...metadata },
  } as ApiObject
  const address = { resource, namespace: metadata?.namespace ?? '', name: metadata?.name ?? '' }
  await store.put(address, store.encode(resource, complete), { expect: store.read(address)?.revision ?? 0 })
}

export const remove = async (store: ObjectStore, plural: string, namespace: string, name: string): Promise<void> => {
  const stored = store.read({ resource: catalog.find('', 'v1', plural) as Resource, namespace, name })
  if (stored !== undefined) await store.remove(stored)
}

/** Makes the code under test yield to the event loop at every step. */
export const alwaysSpentBudget = (): TurnBudget => {
  let now = 0
  return new TurnBudget(() => (now += 10))
}

export const nodeFixture = async (options: NodePodsOptions = {}) => {
  const store = await storeOfBoxes()
  const pods = new NodePods(store, catalog, options)
  const authorizer = nodeAuthorizer({
    identity,
    pods,
    rules: [{ verbs: ['get'], apiGroups: [''], resources: ['services'] }],
  })
  const decide = async (request: string, user = kubelet('n1')): Promise<Decision> => {
    const [method = '', path = ''] = request.split(' ')
    return authorizer.authorize({ user, info: parseRequest(method, path) })
  }
  return {
    store,
    pods,
    authorizer,
    decide,
    isAllowed: async (request: string, user = kubelet('n1')) => (await decide(request, user)).verdict === 'allow',
  }
}
