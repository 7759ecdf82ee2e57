// What a fresh server makes so that it is usable, and what every start puts into order again: the system's namespaces, roles, flow
// schemas and classes, and the server's own place among the objects.

import type { Catalog } from '../../api/catalog.js'
import type { Engine } from '../../verbs/engine.js'
import { removeStale } from './api-services.js'
import { constantObjects } from './constants.js'
import { type Listeners, namespacesOf, type OwnAddresses, ownEndpoints, ownLease, ownService, type ServerName } from './own-objects.js'
import { createMissing, placeAll } from './place.js'
import { nameOf, namesInOrder, type Prepared, placePrepared, readPrepared } from './prepared.js'
import { type Trusted, trustMap } from './trust-map.js'

export interface BootstrapSettings extends OwnAddresses, Listeners {
  readonly self: ServerName
  /** By the names under which the configuration for extension servers has them; empty: there is nobody to trust. */
  readonly trusted: Trusted
  /** The constant ones as bytes (prepared.ts), where they are at hand. */
  readonly prepared?: Prepared | undefined
}

export async function bootstrap(engine: Engine, catalog: Catalog, settings: BootstrapSettings): Promise<void> {
  const { identity, clock } = engine
  const ready = settings.prepared && readPrepared(engine, catalog, settings.prepared)
  const isPlaced = ready !== undefined && (await placePrepared(engine, ready))
  if (!isPlaced) await createMissing(engine, catalog, namespacesOf(identity))
  const now = clock.now()
  const inOrder = isPlaced || ready === undefined ? nothing : namesInOrder(engine, ready)
  const constants = isPlaced || inOrder.size === ready?.objects.length ? [] : constantObjects(catalog, engine.gates, now)
  await Promise.all([
    createMissing(engine, catalog, [ownService(identity, settings)]),
    placeAll(engine, catalog, [
      ...constants.filter(({ resource, namespace = '', object }) => !inOrder.has(nameOf(resource, namespace, object.metadata?.name ?? ''))),
      ...ownEndpoints(identity, settings),
      trustMap(identity, settings.trusted, now),
      ...(engine.gates('APIServerIdentity') ? [ownLease(identity, { ...settings.self, now })] : []),
    ]),
    isPlaced ? undefined : removeStale(engine, catalog),
  ])
}

const nothing: ReadonlySet<string> = new Set()
