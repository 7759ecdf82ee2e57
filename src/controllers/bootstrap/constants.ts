// What a fresh server has whatever it is called and wherever it listens: it follows from the vocabulary, the gates and the catalogue alone, and
// is the same at every start but for uids and times. So it can be prepared (prepared.ts).

import type { Catalog } from '../../api/catalog.js'
import type { FeatureGates } from '../../api/definition.js'
import { accessObjects } from './access.js'
import { apiServices } from './api-services.js'
import { flowObjects } from './flow-control.js'
import { priorityClasses } from './own-objects.js'
import type { Wanted } from './wanted.js'

export const constantObjects = (catalog: Catalog, gates: FeatureGates, now: number): readonly Wanted[] => [
  ...priorityClasses,
  ...accessObjects(catalog.identity, gates),
  ...flowObjects(catalog.identity, now),
  ...apiServices(catalog),
]
