// Objects that every start creates or reconciles: namespaces, RBAC, flow control, priority classes, APIServices, ConfigMaps,
// and the server's Service, Endpoints, EndpointSlice and Lease.

import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { FeatureGates } from '@cluster-apiserver/api/api/definition/resource-definition.js'
import type { Engine } from '../../verbs/engine.js'
import { authenticationConfigMap, type Trusted } from '../aggregation/extension-apiserver-authentication.js'
import { apiServiceDefaults, deleteStaleApiServices } from './api-services.js'
import {
  apiServerEndpoints,
  apiServerLease,
  apiServerService,
  type ClusterInfo,
  clusterInfo,
  type Listeners,
  type ServerName,
  type ServiceAddresses,
} from './apiserver-objects.js'
import { systemNamespaces } from './data/namespaces.js'
import { priorityClasses } from './data/priority-classes.js'
import { createMissing, ensureObjects, type WantedObject } from './ensure-objects.js'
import { flowControlDefaults } from './flow-control.js'
import { metricsReader } from './metrics-reader.js'
import { rbacDefaults } from './rbac-defaults.js'

interface BootstrapSettings extends ServiceAddresses, Listeners {
  readonly self: ServerName
  readonly clusterInfo: ClusterInfo
  /** Entries of the ConfigMap extension-apiserver-authentication. */
  readonly trusted: Trusted
}

export async function bootstrap(engine: Engine, catalog: Catalog, settings: BootstrapSettings): Promise<void> {
  const { identity, clock } = engine
  await createMissing(engine, catalog, systemNamespaces(identity))
  const now = clock.now()
  await Promise.all([
    createMissing(engine, catalog, [apiServerService(identity, settings)]),
    ensureObjects(engine, catalog, [
      ...constantObjects(catalog, engine.gates, now),
      ...apiServerEndpoints(identity, settings),
      authenticationConfigMap(identity, settings.trusted, now),
      clusterInfo(identity, settings.clusterInfo),
      ...(engine.gates('APIServerIdentity') ? [apiServerLease(identity, { ...settings.self, now })] : []),
    ]),
    deleteStaleApiServices(engine, catalog),
  ])
}

const constantObjects = (catalog: Catalog, gates: FeatureGates, now: number): readonly WantedObject[] => [
  ...priorityClasses,
  ...rbacDefaults(catalog.identity, gates),
  ...flowControlDefaults(catalog.identity, now),
  ...apiServiceDefaults(catalog),
  ...metricsReader(catalog),
]
