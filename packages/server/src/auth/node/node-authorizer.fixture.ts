// A store, and the authorizer of agents over it.

import { Catalog, type Resource } from '../../api/catalog.js'
import { identityOf } from '../../api/identity.js'
import type { ApiObject } from '../../api/object.js'
import { parseRequest } from '../../api/request-info.js'
import type { User } from '../../api/user.js'
import { storeOfBoxes } from '../../objects/fixture.js'
import type { ObjectStore } from '../../objects/object-store.js'
import { definitions } from '../../resources/index.js'
import type { Decision } from '../authorize.js'
import { nodeAuthorizer } from './node-authorizer.js'
import { NodePods } from './node-pods.js'

const identity = identityOf('kubernetes')
export const catalog = new Catalog({ identity, definitions, isServed: () => true })

export const agent = (node: string, ...groups: string[]): User => ({
  name: `system:node:${node}`,
  uid: '',
  groups: ['system:nodes', ...groups],
  extra: {},
})

export const put = async (store: ObjectStore, plural: string, object: object, group = ''): Promise<void> => {
  const resource = catalog.find(group, 'v1', plural) as Resource
  const { metadata } = object as ApiObject
  const whole = {
    ...object,
    metadata: { uid: `uid-${metadata?.name}`, creationTimestamp: '2020-01-01T00:00:00Z', ...metadata },
  } as ApiObject
  const address = { resource, namespace: metadata?.namespace ?? '', name: metadata?.name ?? '' }
  await store.put(address, store.encode(resource, whole), { expect: store.read(address)?.revision ?? 0 })
}

export const drop = async (store: ObjectStore, plural: string, namespace: string, name: string): Promise<void> => {
  const stored = store.read({ resource: catalog.find('', 'v1', plural) as Resource, namespace, name })
  if (stored !== undefined) await store.remove(stored)
}

export const stageOf = async (keptBytes?: number) => {
  const store = await storeOfBoxes()
  const pods = new NodePods(store, catalog, keptBytes)
  const authorizer = nodeAuthorizer({
    identity,
    pods,
    rules: [{ verbs: ['get'], apiGroups: [''], resources: ['services'] }],
  })
  const decide = async (request: string, user = agent('n1')): Promise<Decision> => {
    const [method = '', path = ''] = request.split(' ')
    return authorizer.authorize({ user, info: parseRequest(method, path) })
  }
  return {
    store,
    pods,
    authorizer,
    decide,
    may: async (request: string, user = agent('n1')) => (await decide(request, user)).verdict === 'allow',
  }
}
