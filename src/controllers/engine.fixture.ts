// Every kind and an empty store in memory, for the tests of this room: what the loops work with, but for admission.

import { Catalog } from '../api/catalog.js'
import { CatalogSource } from '../api/catalog-source.js'
import { defaultFeatureGates } from '../api/feature-gates.js'
import { type IdentityName, identityOf } from '../api/identity.js'
import type { Clock } from '../base/clock.js'
import { storeOfBoxes } from '../objects/fixture.js'
import { definitions } from '../resources/index.js'
import type { Engine } from '../verbs/engine.js'
import { OnDemand } from '../verbs/on-demand.js'

export interface Stage {
  readonly engine: Engine
  readonly catalog: Catalog
  readonly catalogs: CatalogSource
}

export async function stageOf(name: IdentityName, clock: Clock): Promise<Stage> {
  const identity = identityOf(name)
  const catalog = new Catalog({ identity, definitions, isServed: () => true })
  let uids = 0
  const engine: Engine = {
    store: await storeOfBoxes(),
    identity,
    gates: defaultFeatureGates,
    forbidsPrivileged: false,
    clock,
    admission: { mutate: () => undefined, validate: () => undefined },
    access: { authenticators: [], authorizers: [] },
    reservers: [],
    onDemand: new OnDemand(),
    newUid: () => `uid-${++uids}`,
    randomSuffix: () => 'xxxxx',
  }
  return { engine, catalog, catalogs: new CatalogSource(catalog) }
}
