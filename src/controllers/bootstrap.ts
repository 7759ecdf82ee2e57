// What a fresh server makes so that it is usable: the system's namespaces, classes and its own service. What exists is left alone.

import type { Catalog } from '../api/catalog.js'
import type { GroupName, Identity } from '../api/identity.js'
import type { ApiObject } from '../api/object.js'
import { create } from '../verbs/create.js'
import type { Engine } from '../verbs/engine.js'
import { withDefaults } from '../verbs/versions.js'
import { ownCall } from './own-call.js'

export interface BootstrapSettings {
  /** The first address of the range for services: the API's own. */
  readonly serviceAddress: string
  readonly securePort: number
}

interface Wanted {
  readonly group: GroupName
  readonly version: string
  readonly resource: string
  readonly namespace?: string
  readonly object: ApiObject
}

export async function bootstrap(engine: Engine, catalog: Catalog, settings: BootstrapSettings): Promise<void> {
  const { identity } = engine
  await makeAll(engine, catalog, namespacesOf(identity))
  await makeAll(engine, catalog, [...priorityClasses, ownService(identity, settings)])
}

const namespacesOf = (identity: Identity): readonly Wanted[] =>
  ['default', identity.prefixed('node-lease'), identity.prefixed('public'), identity.prefixed('system')].map((name) => ({
    group: '',
    version: 'v1',
    resource: 'namespaces',
    object: { metadata: { name } },
  }))

const priorityClass = (name: string, value: number, description: string): Wanted => ({
  group: { stem: 'scheduling' },
  version: 'v1',
  resource: 'priorityclasses',
  object: { metadata: { name }, value, description } as ApiObject,
})

const priorityClasses: readonly Wanted[] = [
  priorityClass(
    'system-cluster-critical',
    2_000_000_000,
    'For pods without which the cluster does not work; they may move to another node.',
  ),
  priorityClass('system-node-critical', 2_000_001_000, 'For pods without which their node does not work.'),
]

/** The API under the address that programs inside the cluster know. */
const ownService = (identity: Identity, { serviceAddress, securePort }: BootstrapSettings): Wanted => ({
  group: '',
  version: 'v1',
  resource: 'services',
  namespace: 'default',
  object: {
    metadata: { name: identity.self, namespace: 'default', labels: { component: 'apiserver', provider: identity.self } },
    spec: {
      ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: securePort }],
      clusterIP: serviceAddress,
      clusterIPs: [serviceAddress],
      ipFamilyPolicy: 'SingleStack',
      sessionAffinity: 'None',
      type: 'ClusterIP',
    },
  } as ApiObject,
})

async function makeAll(engine: Engine, catalog: Catalog, all: readonly Wanted[]): Promise<void> {
  await Promise.all(all.map((wanted) => make(engine, catalog, wanted)))
}

async function make(engine: Engine, catalog: Catalog, wanted: Wanted): Promise<void> {
  const resource = catalog.find(engine.identity.group(wanted.group), wanted.version, wanted.resource)
  const name = wanted.object.metadata?.name ?? ''
  const namespace = wanted.namespace ?? ''
  if (resource === undefined) return
  const place = { resource, namespace, name }
  const isThere = (): boolean => engine.store.read(place) !== undefined
  if (isThere()) return
  const call = ownCall(engine, place)
  try {
    await create(engine, call, { object: withDefaults(call, wanted.object), options: {} })
  } catch (thrown) {
    // Another replica was quicker, and that is just as well: the object is there, or what it wanted to have is taken by it.
    if (!isThere()) throw thrown
  }
}
