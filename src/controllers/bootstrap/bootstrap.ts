// What a fresh server makes so that it is usable, and what every start puts into order again: the system's namespaces, roles, flow
// schemas and classes, and the server's own place among the objects.

import type { Catalog } from '../../api/catalog.js'
import type { Engine } from '../../verbs/engine.js'
import { accessObjects } from './access.js'
import { apiServices, removeStale } from './api-services.js'
import { flowObjects } from './flow-control.js'
import {
  type Listeners,
  namespacesOf,
  type OwnAddresses,
  ownEndpoints,
  ownLease,
  ownService,
  priorityClasses,
  type ServerName,
} from './own-objects.js'
import { createMissing, placeAll } from './place.js'
import { type Trusted, trustMap } from './trust-map.js'

export interface BootstrapSettings extends OwnAddresses, Listeners {
  readonly self: ServerName
  /** By the names under which the configuration for extension servers has them; empty: there is nobody to trust. */
  readonly trusted: Trusted
}

export async function bootstrap(engine: Engine, catalog: Catalog, settings: BootstrapSettings): Promise<void> {
  const { identity, clock } = engine
  const now = clock.now()
  await createMissing(engine, catalog, namespacesOf(identity))
  await Promise.all([
    createMissing(engine, catalog, [ownService(identity, settings)]),
    placeAll(engine, catalog, [
      ...priorityClasses,
      ...accessObjects(identity, engine.gates),
      ...flowObjects(identity, now),
      ...apiServices(catalog),
      ...ownEndpoints(identity, settings),
      trustMap(identity, settings.trusted, now),
      ...(engine.gates('APIServerIdentity') ? [ownLease(identity, { ...settings.self, now })] : []),
    ]),
    removeStale(engine, catalog),
  ])
}
