// What the verbs work with: the store, who may do what, admission, and what only the server can make up.

import { randomInt, randomUUID } from 'node:crypto'
import { askWith } from '../admission/access.js'
import { admissionOf } from '../admission/admission.js'
import { AdmissionTallies } from '../admission/admission-tallies.js'
import { pluginsInOrder } from '../admission/order.js'
import { chosenPlugins } from '../admission/plugin-table.js'
import type { TakeEvents } from '../admission/plugins/event-rate-limit.js'
import type { EvaluateInWorker } from '../admission/policy/evaluate-policy.js'
import { paramAccessCheck } from '../admission/policy/param-access.js'
import { QuotaLedger } from '../admission/quota/ledger.js'
import type { CatalogSource } from '../api/catalog-source.js'
import { grantCheck } from '../auth/rbac/grant-check.js'
import type { RbacIndex } from '../auth/rbac/rbac-index.js'
import { systemClock } from '../base/clock.js'
import type { Closing } from '../base/closing.js'
import type { Logger } from '../base/logger.js'
import { ownCall } from '../controllers/own-call.js'
import { probe } from '../net/probe.js'
import type { ObjectStore } from '../objects/object-store.js'
import type { ServiceRanges } from '../resources/core/service-allocation.js'
import { create } from '../verbs/create.js'
import type { Engine } from '../verbs/engine.js'
import { OnDemand } from '../verbs/on-demand.js'
import { serviceReservers } from '../verbs/special/service-reserver.js'
import type { Steps } from '../verbs/steps.js'
import type { AdminCredential } from './client-configuration.js'
import type { ClientTrust } from './client-trust.js'
import { makeAuthenticators } from './make-authenticators.js'
import { makeAuthorizers } from './make-authorizers.js'
import { agentFinding } from './make-reach.js'
import type { HookParts } from './open-hooks.js'
import type { Settings } from './options/settings.js'
import type { Outbound } from './outbound.js'
import type { WriteFile } from './private-files.js'

export interface EngineParts {
  readonly store: ObjectStore
  readonly catalogs: CatalogSource
  readonly credential: AdminCredential
  readonly trust: ClientTrust
  readonly logger: Logger
  readonly serviceRanges: ServiceRanges
  readonly rbac: RbacIndex
  readonly closing: Closing
  /** Connections to hooks, and what is counted of them. */
  readonly hooks: Omit<HookParts, 'recorder' | 'close'>
  readonly outbound: Outbound
  /** How many events may still come. */
  readonly takeEvents: TakeEvents
  /** How files are written that a start makes; left out: they are durable at once. */
  readonly writeFile?: WriteFile
}

export function makeEngine(settings: Settings, parts: EngineParts): Engine {
  const { store, catalogs, serviceRanges, rbac } = parts
  catalogs.onChange(store.endWatchesOfGone)
  const { authenticators, issuer, tallies, list } = makeAuthenticators(settings, parts)
  const authorizers = makeAuthorizers(settings, parts)
  const ledger = makeLedger(settings, parts)
  const admissionTallies = new AdmissionTallies()
  const engine: Engine = {
    store,
    identity: settings.identity,
    gates: settings.gates,
    forbidsPrivileged: !settings.allowPrivileged,
    allowsPlainHooks: settings.admission.allowsPlainHooks,
    clock: systemClock,
    admission: admissionOf(
      pluginsInOrder({
        store,
        catalogs,
        randomSuffix,
        ledger,
        policyTallies: admissionTallies.policies,
        evaluateInWorker: evaluateInWorker(() => engine.steps),
        ask: askWith(authorizers),
        takeEvents: parts.takeEvents,
        createNamespace: (name) => createNamespace(engine, catalogs, name),
        webhooks: { ...parts.hooks, credentials: settings.admission.hookCredentials, newUid: randomUUID },
        ...settings.admission,
        imagePolicy: parts.hooks.imagePolicy,
      }),
      admissionTallies,
    ),
    ...(ledger === undefined ? {} : { accounts: ledger }),
    access: { authenticators, authorizers, tallies, addToken: (token, user) => list.add(token, user) },
    checkGrant: grantCheck({ index: rbac, authorizers }),
    checkParamAccess: paramAccessCheck({ store, catalogs, ask: askWith(authorizers) }),
    issuer,
    components: controlPlane,
    agents: agentFinding(settings.agents),
    reservers: serviceReservers(serviceRanges, Math.random),
    onDemand: new OnDemand(),
    deletionWorkers: settings.deletionWorkers,
    ignoresDependents: !settings.collectsGarbage,
    newUid: randomUUID,
    randomSuffix,
  }
  return engine
}

/** The worker threads are opened after the engine; no request comes before. */
const evaluateInWorker =
  (steps: () => Steps | undefined): EvaluateInWorker =>
  (call, policy, variables) =>
    steps()?.evaluatePolicy(call, policy, variables) ?? Promise.reject(new Error('there are no worker threads yet'))

/** As the server itself, and admitted like any other. */
async function createNamespace(engine: Engine, catalogs: CatalogSource, name: string): Promise<void> {
  const resource = catalogs.current.find('', 'v1', 'namespaces')
  if (resource !== undefined) await create(engine, ownCall(engine, { resource, name }), { object: { metadata: { name } } })
}

/** What is used is counted in any case; whether more than that is refused, the plugin decides. */
function makeLedger({ admission }: Settings, { store, catalogs }: EngineParts): QuotaLedger | undefined {
  const quotas = catalogs.current.find('', 'v1', 'resourcequotas')
  if (quotas === undefined) return undefined
  const enforces = chosenPlugins(admission).includes('ResourceQuota')
  return new QuotaLedger({ store, quotas, limited: admission.config.limitedResources, enforces })
}

/** Where the other parts of a control plane answer, when they run on this machine. */
const controlPlane = (
  [
    ['controller-manager', 10257],
    ['scheduler', 10259],
  ] as const
).map(([name, port]) => ({ name, probe: (patienceMs: number) => probe(`https://127.0.0.1:${port}/healthz`, patienceMs) }))

const suffixLetters = 'bcdfghjklmnpqrstvwxz2456789'

const randomSuffix = (length: number): string => Array.from({ length }, () => suffixLetters[randomInt(suffixLetters.length)]).join('')
