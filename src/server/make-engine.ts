// What the verbs work with: the store, who may do what, admission, and what only the server can make up.

import { randomInt, randomUUID } from 'node:crypto'
import { admissionOf } from '../admission/admission.js'
import { pluginsInOrder } from '../admission/order.js'
import type { CatalogSource } from '../api/catalog-source.js'
import { everybody, masters, publicInformation } from '../auth/fixed-authorizers.js'
import { tokenList } from '../auth/token-list.js'
import { systemClock } from '../base/clock.js'
import { probe } from '../net/probe.js'
import type { ObjectStore } from '../objects/object-store.js'
import type { ServiceRanges } from '../resources/core/service-allocation.js'
import type { Engine } from '../verbs/engine.js'
import { OnDemand } from '../verbs/on-demand.js'
import { serviceReservers } from '../verbs/special/service-reserver.js'
import type { AdminCredential } from './client-configuration.js'
import type { Settings } from './options/settings.js'

export interface EngineParts {
  readonly store: ObjectStore
  readonly catalogs: CatalogSource
  readonly credential: AdminCredential
  readonly serviceRanges: ServiceRanges
}

export function makeEngine(settings: Settings, { store, catalogs, credential, serviceRanges }: EngineParts): Engine {
  catalogs.onChange(store.endWatchesOfGone)
  return {
    store,
    identity: settings.identity,
    gates: settings.gates,
    forbidsPrivileged: !settings.allowPrivileged,
    clock: systemClock,
    admission: admissionOf(pluginsInOrder({ store, catalogs, randomSuffix, ...settings.admission })),
    access: accessFor(settings, credential),
    components: controlPlane,
    reservers: serviceReservers(serviceRanges, Math.random),
    onDemand: new OnDemand(),
    deletionWorkers: settings.deletionWorkers,
    newUid: randomUUID,
    randomSuffix,
  }
}

/** Each list in the order in which they are asked. */
const accessFor = ({ tokens, authorizationModes }: Settings, credential: AdminCredential): Engine['access'] => ({
  authenticators: [tokenList(new Map([...tokens, [credential.token, credential.user]]))],
  authorizers: authorizationModes.includes('AlwaysAllow') ? [everybody] : [masters, publicInformation],
})

/** Where the other parts of a control plane answer, when they run on this machine. */
const controlPlane = (
  [
    ['controller-manager', 10257],
    ['scheduler', 10259],
  ] as const
).map(([name, port]) => ({ name, probe: (patienceMs: number) => probe(`https://127.0.0.1:${port}/healthz`, patienceMs) }))

const suffixLetters = 'bcdfghjklmnpqrstvwxz2456789'

const randomSuffix = (length: number): string => Array.from({ length }, () => suffixLetters[randomInt(suffixLetters.length)]).join('')
