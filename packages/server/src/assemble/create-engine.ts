// Creates the engine of the verbs: store, access control, admission, quota and generators of names and uids.

import { randomInt, randomUUID } from 'node:crypto'
import type { CatalogSource } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { ServiceRanges } from '@cluster-apiserver/api/resources/core/service/service-ip-allocation.js'
import { createAdmission } from '../admission/admission.js'
import { AdmissionCounters } from '../admission/admission-counters.js'
import { createPlugins } from '../admission/create-plugins.js'
import { permissionCheck } from '../admission/lookup.js'
import { enabledPlugins } from '../admission/plugin-table.js'
import type { TakeTokens } from '../admission/plugins/event-rate-limit.js'
import { QuotaLedger } from '../admission/quota/resource-quota.js'
import { paramAccessCheck } from '../admission/validating-admission-policy/param-authorization.js'
import type { EvaluateInWorker } from '../admission/validating-admission-policy/validating-admission-policy.js'
import { escalationCheck } from '../auth/rbac/escalation-check.js'
import type { RbacIndex } from '../auth/rbac/rbac-index.js'
import { internalCall } from '../controllers/framework/internal-call.js'
import { probe } from '../net/outbound/http-client.js'
import type { ObjectStore } from '../objects/object-store.js'
import type { Settings } from '../options/settings.js'
import { create } from '../verbs/create.js'
import { type Engine, OnDemandObjects } from '../verbs/engine.js'
import { serviceReservers } from '../verbs/reserve/service-ips-and-ports.js'
import type { WorkerSteps } from '../verbs/worker-steps.js'
import type { AdminCredential } from './admin-kubeconfig.js'
import type { ClientTrust } from './certificates/client-ca.js'
import type { TokenKeys } from './certificates/service-account-keys.js'
import { createAuthenticators, createAuthorizers } from './create-authenticators.js'
import { kubeletAddressing } from './create-proxy-upstreams.js'
import type { WebhookParts } from './create-webhooks.js'
import type { Outbound } from './outbound.js'
import { workerComponents } from './processes/worker-components.js'
import type { StartContext } from './start-context.js'

interface EngineParts {
  readonly store: ObjectStore
  readonly catalogs: CatalogSource
  readonly credential: AdminCredential
  readonly tokenKeys: TokenKeys
  readonly trust: ClientTrust
  readonly serviceRanges: ServiceRanges
  readonly rbac: RbacIndex
  readonly webhooks: Omit<WebhookParts, 'recorder' | 'close'>
  readonly outbound: Outbound
  readonly takeEvents: TakeTokens
}

export function createEngine(context: StartContext, parts: EngineParts): Engine {
  const { settings, time, testkit } = context
  const { store, catalogs, serviceRanges, rbac } = parts
  catalogs.onChange(store.endWatchesOfRemovedKinds)
  const { authenticators, issuer, counters, staticTokens } = createAuthenticators(context, parts)
  const authorizers = createAuthorizers(context, parts)
  const ledger = createLedger(settings, parts)
  const admissionCounters = new AdmissionCounters()
  const engine: Engine = {
    store,
    identity: settings.identity,
    gates: settings.gates,
    forbidsPrivileged: !settings.allowPrivileged,
    allowsPlainWebhooks: settings.admission.allowsPlainWebhooks,
    clock: time.system,
    timers: time.timers,
    admission: createAdmission(
      [
        ...createPlugins({
          store,
          catalogs,
          gates: settings.gates,
          randomSuffix,
          ledger,
          policyCounters: admissionCounters.policies,
          evaluateInWorker: evaluateInWorker(() => engine.steps),
          checkPermission: permissionCheck(authorizers),
          takeEventTokens: parts.takeEvents,
          createNamespace: (name) => createNamespace(engine, catalogs, name),
          webhooks: { ...parts.webhooks, credentials: settings.admission.webhookCredentials, newUid: randomUUID },
          ...settings.admission,
          imagePolicy: parts.webhooks.imagePolicy,
        }),
        ...(testkit === undefined ? [] : [testkit.webhooks.slots.imagePolicy()]),
      ],
      admissionCounters,
    ),
    ...(ledger === undefined ? {} : { accounts: ledger }),
    access: { authenticators, authorizers, counters, addToken: (token, user) => staticTokens.add(token, user) },
    checkGrant: escalationCheck({ index: rbac, authorizers }),
    checkParamAccess: paramAccessCheck({ store, catalogs, checkPermission: permissionCheck(authorizers) }),
    issuer,
    components: [...controlPlaneComponents, ...workerComponents(context)],
    kubelets: kubeletAddressing(settings.kubelets),
    reservers: serviceReservers(serviceRanges, Math.random),
    onDemand: new OnDemandObjects(),
    deletionWorkers: settings.deletionWorkers,
    ignoresDependents: !settings.collectsGarbage,
    ...(context.testkit === undefined ? {} : { onCommit: context.testkit.onCommit }),
    newUid: randomUUID,
    randomSuffix,
  }
  return engine
}

/** Worker threads are created after the engine and before the first request. */
const evaluateInWorker =
  (steps: () => WorkerSteps | undefined): EvaluateInWorker =>
  (call, policy, variables) =>
    steps()?.evaluatePolicy(call, policy, variables) ?? Promise.reject(new Error('there are no worker threads yet'))

/** Creates a namespace as the user system:apiserver, with admission. */
async function createNamespace(engine: Engine, catalogs: CatalogSource, name: string): Promise<void> {
  const resource = catalogs.current.find('', 'v1', 'namespaces')
  if (resource !== undefined) await create(engine, internalCall(engine, { resource, name }), { object: { metadata: { name } } })
}

/** Quota usage is always counted; limits are enforced only if the plugin ResourceQuota is enabled. */
function createLedger({ admission }: Settings, { store, catalogs }: EngineParts): QuotaLedger | undefined {
  const quotas = catalogs.current.find('', 'v1', 'resourcequotas')
  if (quotas === undefined) return undefined
  const shouldEnforce = enabledPlugins(admission).includes('ResourceQuota')
  return new QuotaLedger({ store, quotas, limited: admission.config.limitedResources, shouldEnforce })
}

/** Health endpoints of other control-plane components on this machine. */
const controlPlaneComponents = (
  [
    ['controller-manager', 10257],
    ['scheduler', 10259],
  ] as const
).map(([name, port]) => ({ name, probe: (timeoutMs: number) => probe(`https://127.0.0.1:${port}/healthz`, timeoutMs) }))

const suffixChars = 'bcdfghjklmnpqrstvwxz2456789'

const randomSuffix = (length: number): string => Array.from({ length }, () => suffixChars[randomInt(suffixChars.length)]).join('')
