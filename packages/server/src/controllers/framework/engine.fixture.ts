// An engine for tests of controllers: every built-in kind, an empty store in memory, no admission.

import { Catalog, CatalogSource } from '@cluster-apiserver/api/api/catalog/catalog.js'
import { defaultFeatureGates } from '@cluster-apiserver/api/api/feature-gates/feature-gates.js'
import { type IdentityName, identityOf } from '@cluster-apiserver/api/api/identity.js'
import type { Clock } from '@cluster-apiserver/api/base/clock.js'
import { definitions } from '@cluster-apiserver/api/resources/index.js'
import { storeOfBoxes } from '../../objects/box-store.fixture.js'
import { type Engine, OnDemandObjects } from '../../verbs/engine.js'

export interface TestEngine {
  readonly engine: Engine
  readonly catalog: Catalog
  readonly catalogs: CatalogSource
}

export async function createTestEngine(name: IdentityName, clock: Clock): Promise<TestEngine> {
  const identity = identityOf(name)
  const catalog = new Catalog({ identity, definitions, isServed: () => true })
  let uids = 0
  const engine: Engine = {
    store: await storeOfBoxes(),
    identity,
    gates: defaultFeatureGates,
    forbidsPrivileged: false,
    clock,
    admission: { mutate: async () => undefined, validate: async () => undefined },
    access: { authenticators: [], authorizers: [] },
    reservers: [],
    onDemand: new OnDemandObjects(),
    newUid: () => `uid-${++uids}`,
    randomSuffix: () => 'xxxxx',
  }
  return { engine, catalog, catalogs: new CatalogSource(catalog) }
}
